#!/bin/sh
# Prints new secrets of an installation as NAME=VALUE lines, for deploy/.env:
#
#   deploy/secrets.sh >deploy/.env
#
# SWE_CI_SECRET seals the keys of providers in the database: with another one
# they cannot be opened. Keep the file, and back it up apart from the database.
set -eu

# The caller's shell has made the file, readable for everybody as a rule.
if [ -f /dev/stdout ]; then chmod 600 /dev/stdout; fi

cat <<END
POSTGRES_PASSWORD=$(openssl rand -hex 24)
AWS_ACCESS_KEY_ID=$(openssl rand -hex 10)
AWS_SECRET_ACCESS_KEY=$(openssl rand -hex 24)
SWE_CI_SECRET=$(openssl rand -base64 32)
END
