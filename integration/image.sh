#!/usr/bin/env bash
# Builds the image TAG on the daemon of $DOCKER_HOST without a registry: bash, busybox and tini of this machine, a Java 17
# that jlink cuts from its JDK, and the server's jars (neo4j.sh --fetch). For tests.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tag=$1
jdk=$(dirname "$(ls -d /usr/lib/jvm/*17*/jmods | head -1)")
lib=$("$here/neo4j.sh" --fetch)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{bin,usr/bin,etc,tmp,proc,sys,dev,root,data,logs,opt} "$root/var/lib/neo4j"/{conf,plugins,run,licenses,import}
chmod 1777 "$root/tmp"
cp /bin/busybox /bin/bash /usr/bin/tini "$root/bin/"
for applet in $(/bin/busybox --list); do [[ -e $root/bin/$applet ]] || ln -s busybox "$root/bin/$applet"; done
ln -s ../../bin/env "$root/usr/bin/env"
echo 'root:x:0:0:root:/root:/bin/sh' >"$root/etc/passwd"
echo 'root:x:0:' >"$root/etc/group"
echo 'hosts: files dns' >"$root/etc/nsswitch.conf"
"$jdk/bin/jlink" --no-man-pages --no-header-files --compress=2 --output "$root/opt/java" \
  --add-modules java.se,jdk.unsupported,jdk.net,jdk.management,jdk.crypto.ec,jdk.zipfs,jdk.security.auth,jdk.incubator.vector,jdk.charsets,jdk.jfr 2>/dev/null
# Shared libraries of bash, tini and Java, and what glibc loads by name.
{ ldd /bin/bash /usr/bin/tini; find "$root/opt/java" \( -name '*.so' -o -path '*/bin/java' \) -exec ldd {} + 2>/dev/null; } |
  grep -oE '/(usr/)?lib[^ :]*' | grep -v "^$root" | sort -u | while read -r so; do
  [[ ! -f $so ]] || install -D "$(readlink -f "$so")" "$root$so"
done
for so in libnss_files.so.2 libnss_dns.so.2 libresolv.so.2; do
  path=$(ldconfig -p | awk -v so="$so" '$1 == so { print $NF; exit }')
  [[ -z $path ]] || install -D "$(readlink -f "$path")" "$root$path"
done
cp -r "$lib" "$root/var/lib/neo4j/lib"
ln -s /data "$root/var/lib/neo4j/data"
ln -s /logs "$root/var/lib/neo4j/logs"
install -m755 "$here/entrypoint.sh" "$root/docker-entrypoint.sh"
tar -C "$root" -c --numeric-owner . | docker import \
  --change 'ENV PATH=/usr/bin:/bin:/opt/java/bin' --change 'ENV NEO4J_HOME=/var/lib/neo4j NEO4J_EDITION=community' \
  --change 'EXPOSE 7474 7687' --change 'WORKDIR /var/lib/neo4j' --change 'VOLUME ["/data","/logs"]' \
  --change 'ENTRYPOINT ["/bin/tini","-g","--","/docker-entrypoint.sh"]' --change 'CMD ["neo4j"]' - "$tag" >/dev/null
docker image ls --format '{{.Repository}}:{{.Tag}} {{.Size}}' neo4j >&2
