"""The files of docs/scaling: they parse, and the commands in them are commands of ours."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from sayso.cli import app

FOLDER = Path(__file__).parent.parent / "docs" / "scaling"


def parsed(command: str) -> dict[str, Any]:
    """Return the flags of a command line of sayso, as it reads them."""
    words = shlex.split(command)
    assert words[0] == "sayso"
    _, bound, _ = app.parse_args(words[1:], exit_on_error=False, print_error=False)
    names = {"model": bound.kwargs["model_"], "out": bound.kwargs["out_"]}
    return {**names, **dict(one.split("=", 1) for one in bound.kwargs["set"])}


def test_the_slurm_script_is_a_script_and_its_command_ours() -> None:
    text = (FOLDER / "slurm.sh").read_text(encoding="utf-8")
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    subprocess.run([bash, "-n", str(FOLDER / "slurm.sh")], check=True)
    joined = text.replace("\\\n", " ")
    (command,) = re.findall(r"sayso run .*", joined)
    flags = parsed(command)
    assert flags["engine"] == "ray"
    assert flags["ray_address"] == "$address:$port"
    wanted = {"nodes", "ntasks-per-node", "cpus-per-task", "gpus-per-node", "time", "job-name"}
    assert set(re.findall(r"#SBATCH --([\w-]+)=", text)) == wanted


def test_the_job_for_kubernetes_is_a_ray_job_and_its_command_ours() -> None:
    job = yaml.safe_load((FOLDER / "kuberay.yaml").read_text(encoding="utf-8"))
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    assert parsed(job["spec"]["entrypoint"])["ray_address"] == "auto"
    cluster = job["spec"]["rayClusterSpec"]
    pods = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]
    for pod in pods:
        spec = pod["template"]["spec"]
        (container,) = spec["containers"]
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in spec["volumes"]}
        assert isinstance(pod["rayStartParams"], dict)
        assert all(isinstance(value, str) for value in pod["rayStartParams"].values())
    for group in cluster["workerGroupSpecs"]:
        assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
