# shellcheck shell=bash
# Chromium and its driver, for the end-to-end tests.

setup_browser() {
    if ! have chromium || ! have chromedriver; then
        need_leave browser "The end-to-end tests need chromium and chromedriver. Install both (Debian: apt install chromium chromium-driver)."
        apt_install chromium chromium-driver
    fi
    say browser "$(chromium_version)"
}

# `chromium --version` starts half a browser; the package knows as well.
chromium_version() {
    dpkg-query --show --showformat 'chromium ${Version}' chromium 2>/dev/null || command -v chromium
}
