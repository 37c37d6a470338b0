# shellcheck shell=bash
# A Python that can install packages: tests run Pylint and radon with it, which
# they get from the package index.

setup_python() {
    have_pip || install_python
    have_pip || die python "python3 is here, but neither pip nor venv works: python3 -m pip --version says why."
    say python "$(python3 --version)"
}

# Debian has pip and venv in packages of their own.
have_pip() {
    have python3 || return 1
    python3 -m pip --version >/dev/null 2>&1 || python3 -c 'import ensurepip, venv' >/dev/null 2>&1
}

install_python() {
    need_leave python "Python 3.10 or later with pip is missing. Install it (Debian: apt install python3-venv)."
    apt_install python3-venv
}
