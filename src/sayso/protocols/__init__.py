"""The published protocols. A fifth is a package beside these and a line in the dictionary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sayso.metric import NOTATIONS
from sayso.protocols.faithfulness import FAITHFULNESS
from sayso.protocols.protocol import Protocol
from sayso.protocols.selective import SELECTIVE
from sayso.protocols.self_known import SELF_KNOWN
from sayso.protocols.uncle import UNCLE
from sayso.records import InputError

if TYPE_CHECKING:
    from sayso.storage.run_folder import Manifest

#: every protocol that ``sayso run`` can run, by name
PROTOCOLS: dict[str, Protocol] = {
    protocol.name: protocol for protocol in (UNCLE, SELECTIVE, FAITHFULNESS, SELF_KNOWN)
}
NOTATIONS.update({m.name: m.notation for p in PROTOCOLS.values() for m in p.metrics.values()})


def protocol_named(name: str) -> Protocol:
    """Return a protocol by its name. Raises InputError."""
    if name not in PROTOCOLS:
        raise InputError(f"protocol {name!r}: expected one of {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]


def protocol_of(manifest: Manifest) -> Protocol:
    """Return the protocol of a run. Raises InputError for one that this sayso does not know."""
    if len(manifest.protocols) != 1 or manifest.protocols[0] not in PROTOCOLS:
        raise InputError(
            f"a run of {', '.join(manifest.protocols) or 'no protocol'}, which this version of "
            f"sayso does not know; it knows {', '.join(PROTOCOLS)}"
        )
    return PROTOCOLS[manifest.protocols[0]]
