# shellcheck shell=bash
# Chromium and its driver, for the end-to-end tests; and Debian's Chromium without
# windows, which starts in a third of the processor time.

setup_browser() {
    if ! have chromium || ! have chromedriver; then
        need_leave browser "The end-to-end tests need chromium and chromedriver. Install both (Debian: apt install chromium chromium-driver)."
        apt_install chromium chromium-driver
    fi
    if ! have chromium-headless-shell && may_install; then apt_install chromium-headless-shell; fi
    say browser "$(chromium_version)"
}

# `chromium --version` starts half a browser; the package knows as well.
chromium_version() {
    dpkg-query --show --showformat 'chromium ${Version}' chromium 2>/dev/null || command -v chromium
}
