#!/usr/bin/env bash
# Installs the Redfish emulator of OpenStack's sushy-tools into a virtual environment of its own, and prints the folder
# that holds sushy-emulator. Some seconds, once: the folder is in the user's cache.
set -euo pipefail
. "${BASH_SOURCE[0]%/*}/common.sh"
version=2.2.0
root=$HARDWAY_CACHE/sushy-tools-$version

install() {
  rm -rf "$root"
  # Debian's own: another python3 that comes first today may be gone tomorrow.
  /usr/bin/python3 -m venv "$root"
  # What it needs, as tried together.
  "$root/bin/pip" install --quiet --disable-pip-version-check "sushy-tools==$version" bcrypt==5.0.0 blinker==1.9.0 \
    charset-normalizer==3.5.2 click==8.5.1 Flask==3.1.3 idna==3.20 itsdangerous==2.2.0 Jinja2==3.1.6 MarkupSafe==3.0.4 \
    pbr==7.1.3 requests==2.34.2 tenacity==9.2.1 urllib3==2.8.0 WebOb==1.8.11 Werkzeug==3.1.9
  touch "$root/complete"
}

[[ -e $root/complete ]] || step sushy-tools "installing a Redfish emulator: sushy-tools $version" install
echo "$root/bin"
