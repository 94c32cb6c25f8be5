#!/bin/sh
# The part of the official Neo4j image's contract that the tests rely on: NEO4J_AUTH=none or neo4j/PASSWORD, and
# NEO4J_name_of__a_setting=value (a single underscore is a dot, a double one an underscore).
set -eu
home=/var/lib/neo4j
conf=$home/conf/neo4j.conf
[ "${1:-neo4j}" = neo4j ] || exec "$@"
settings=$(env | grep '^NEO4J_[a-z]' | sed 's/^NEO4J_//' | while IFS='=' read -r name value; do
  echo "$(printf '%s' "$name" | sed 's/__/\x01/g; s/_/./g; s/\x01/_/g')=$value"
done)
{
  # Neo4j refuses a key that is given twice: the environment's wins.
  for line in server.default_listen_address=0.0.0.0 server.directories.data=/data server.directories.logs=/logs \
    server.https.enabled=false server.memory.pagecache.size=256m dbms.usage_report.enabled=false; do
    printf '%s\n' "$settings" | grep -q "^${line%%=*}=" || echo "$line"
  done
  printf '%s\n' "$settings"
} >"$conf"
case ${NEO4J_AUTH:-} in
  none) echo dbms.security.auth_enabled=false >>"$conf" ;;
  neo4j/*)
    [ -d /data/databases/system ] || NEO4J_HOME=$home NEO4J_CONF=$home/conf java -Xmx128m -XX:TieredStopAtLevel=1 -cp "$home/lib/*" \
      org.neo4j.cli.AdminTool dbms set-initial-password "${NEO4J_AUTH#neo4j/}" ;;
esac
exec java -Xmx1g -XX:+UseG1GC -XX:TieredStopAtLevel=1 -Djdk.nio.maxCachedBufferSize=1024 -Dio.netty.tryReflectionSetAccessible=true \
  -Dlog4j2.disable.jmx=true --add-opens=java.base/java.nio=ALL-UNNAMED --add-opens=java.base/java.io=ALL-UNNAMED \
  --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-modules=jdk.incubator.vector -cp "$home/lib/*" \
  org.neo4j.server.CommunityEntryPoint --home-dir=$home --config-dir=$home/conf --console-mode
