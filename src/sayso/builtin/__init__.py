"""The built-in model, its invented world, and the recipe that made them.

Everything here is about people, companies, movies, astronomical objects and diseases that do not
exist, so for every fact it is on file how often the model read it.  The rest of sayso finds the
shipped files by path and imports nothing from here but the loader of its data.
"""
