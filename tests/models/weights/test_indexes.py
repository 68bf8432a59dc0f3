"""The package indexes a user has configured for pip or uv are the ones that are asked."""

from pathlib import Path

import pytest

from thinkback.models.weights import Indexes, config_files, discover_index_urls

PYPI = "https://pypi.org/simple/"


@pytest.fixture
def pip_conf(tmp_path: Path) -> Path:
    path = tmp_path / "pip.conf"
    path.write_text(
        "[global]\n"
        "index-url = https://mirror.example/simple\n"
        "extra-index-url =\n    file:///opt/simple\n    https://more.example/simple\n"
        "find-links = /opt/wheels\n"
        "cert = /etc/ca.pem\n"
    )
    return path


def test_nothing_configured_means_the_public_index() -> None:
    assert discover_index_urls({}, ()) == Indexes((PYPI,), (), None)


def test_every_key_of_pip_conf_is_read(pip_conf: Path) -> None:
    assert discover_index_urls({}, (pip_conf,)) == Indexes(
        ("https://mirror.example/simple", "file:///opt/simple", "https://more.example/simple"),
        ("/opt/wheels",),
        "/etc/ca.pem",
    )


def test_an_extra_index_alone_keeps_the_public_one_first(tmp_path: Path) -> None:
    path = tmp_path / "pip.conf"
    path.write_text("[global]\nextra_index_url = file:///opt/simple\n")
    assert discover_index_urls({}, (path,)).index_urls == (PYPI, "file:///opt/simple")


def test_the_later_file_wins_and_extras_unite(pip_conf: Path, tmp_path: Path) -> None:
    user = tmp_path / "user.conf"
    user.write_text(
        "[install]\nindex-url = https://own.example/simple\nextra-index-url = https://more.example/simple\n"
    )
    found = discover_index_urls({}, (pip_conf, user))
    assert found.index_urls == ("https://own.example/simple", "file:///opt/simple", "https://more.example/simple")


def test_the_environment_wins_over_files(pip_conf: Path) -> None:
    environ = {
        "PIP_INDEX_URL": "https://env.example/simple",
        "PIP_EXTRA_INDEX_URL": "https://a.example https://b.example",
        "PIP_FIND_LINKS": "/srv/wheels",
        "PIP_CERT": "/srv/ca.pem",
    }
    found = discover_index_urls(environ, (pip_conf,))
    assert found.index_urls[0] == "https://env.example/simple"
    assert found.index_urls[-2:] == ("https://a.example", "https://b.example")
    assert found.find_links == ("/opt/wheels", "/srv/wheels")
    assert found.cert == "/srv/ca.pem"


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"UV_INDEX_URL": "https://u.example"}, ("https://u.example",)),
        ({"UV_DEFAULT_INDEX": "corp=https://u.example"}, ("https://u.example",)),
        ({"UV_DEFAULT_INDEX": "https://u.example?a=b"}, ("https://u.example?a=b",)),
        ({"UV_INDEX": "corp=https://u.example https://v.example"}, (PYPI, "https://u.example", "https://v.example")),
        ({"UV_INDEX_URL": "https://u.example", "PIP_INDEX_URL": "https://p.example"}, ("https://p.example",)),
        ({"PIP_NO_INDEX": "1", "PIP_INDEX_URL": "https://p.example"}, ()),
    ],
)
def test_the_variables_of_uv_and_pip(environ: dict[str, str], expected: tuple[str, ...]) -> None:
    assert discover_index_urls(environ, ()).index_urls == expected


def test_certificates_of_the_system_variable_are_used() -> None:
    assert discover_index_urls({"SSL_CERT_FILE": "/etc/ca.pem"}, ()).cert == "/etc/ca.pem"
    assert discover_index_urls({"SSL_CERT_FILE": "/etc/ca.pem", "PIP_CERT": "/p.pem"}, ()).cert == "/p.pem"


def test_uv_toml_is_read(tmp_path: Path) -> None:
    path = tmp_path / "uv.toml"
    path.write_text(
        'find-links = ["/opt/wheels"]\n'
        '[[index]]\nname = "corp"\nurl = "https://corp.example/simple"\ndefault = true\n'
        '[[index]]\nurl = "https://more.example/simple"\n'
    )
    found = discover_index_urls({}, (path,))
    assert found == Indexes(("https://corp.example/simple", "https://more.example/simple"), ("/opt/wheels",), None)


@pytest.mark.parametrize("content", [b"no section = 1\n", b"\xff\xfe\x00", b"[global\n"])
def test_a_broken_file_names_no_index(tmp_path: Path, content: bytes) -> None:
    for name in ("pip.conf", "uv.toml", "absent.conf"):
        if name != "absent.conf":
            (tmp_path / name).write_bytes(content)
        assert discover_index_urls({}, (tmp_path / name,)) == Indexes()


def test_the_users_file_comes_after_the_machines_and_the_environments_last(tmp_path: Path) -> None:
    files = config_files({"XDG_CONFIG_HOME": str(tmp_path / "xdg")}, tmp_path, tmp_path / "venv")
    pip = [path for path in files if path.suffix != ".toml"]
    assert pip[-1].parent == tmp_path / "venv"
    assert pip.index(tmp_path / "xdg" / "pip" / "pip.conf") < len(pip) - 1
    assert config_files({"PIP_CONFIG_FILE": "/own.conf"}, tmp_path) == (Path("/own.conf"),)
