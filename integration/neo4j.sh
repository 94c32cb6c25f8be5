#!/usr/bin/env bash
# Runs a real Neo4j Community server, resolved from the Maven repository, on loopback, in a directory that is
# removed at the end. Prints "ready URI USER PASSWORD PID" and serves until standard input ends; for each line that it
# reads, it kills the server with SIGKILL and starts it again.
#   neo4j.sh          run a server
#   neo4j.sh --fetch  only fetch the jars and print where they are
# Settings by environment: NEO4J_VERSION=5.26.30  BOLT_PORT=17687  NEO4J_PASSWORD=graphcloak-test  NEO4J_HEAP=1g
#   NEO4J_CONF_EXTRA="key=value lines"  JAVA_HOME
set -euo pipefail
version=${NEO4J_VERSION:-5.26.30}
port=${BOLT_PORT:-17687}
password=${NEO4J_PASSWORD:-graphcloak-test}
heap=${NEO4J_HEAP:-1g}
cache=${XDG_CACHE_HOME:-$HOME/.cache}/graphcloak
lib=$cache/neo4j-$version
case $version in
  5.*) javas='17|21' jdk=openjdk-17-jdk-headless main=org.neo4j.server.CommunityEntryPoint ;;
  *) javas='21|25' jdk=openjdk-21-jdk-headless main=org.neo4j.server.Neo4jCommunity ;; # calendar versions
esac

# find_java prints a java of a release that this server runs on.
find_java() {
  local java
  for java in "${JAVA_HOME:-/nonexistent}/bin/java" "$(command -v java || true)" /usr/lib/jvm/*/bin/java; do
    [[ -x $java ]] && "$java" -version 2>&1 | grep -qE "version \"($javas)[.\"]" && { echo "$java"; return; }
  done
  return 1
}

need() { [[ -f $lib/.complete ]] || command -v mvn >/dev/null || echo maven; find_java >/dev/null || echo "$jdk"; }
missing=$(need | xargs)
if [[ -n $missing ]]; then
  if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
    # shellcheck disable=SC2086
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } >&2
  else
    echo "the tests need a Neo4j server: set NEO4J_URI, start Docker, or install: $missing" >&2
    exit 1
  fi
fi
java=$(find_java)

if [[ ! -f $lib/.complete ]]; then
  mkdir -p "$cache"
  fetch=$(mktemp -d "$cache/fetch.XXXXXX")
  trap 'rm -rf "$fetch"' EXIT
  cat >"$fetch/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>graphcloak</groupId><artifactId>neo4j-for-tests</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.neo4j</groupId><artifactId>neo4j</artifactId><version>$version</version></dependency>
  </dependencies>
</project>
POM
  JAVA_HOME=$(dirname "$(dirname "$java")") mvn -q -B -Dstyle.color=never -f "$fetch/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
    -DincludeScope=runtime -DoutputDirectory="$fetch/lib" >&2
  rm -f "$fetch"/lib/*-osx-*.jar "$fetch"/lib/*-linux-aarch_64.jar
  touch "$fetch/lib/.complete"
  rm -rf "$lib" && mv -T "$fetch/lib" "$lib" || [[ -f $lib/.complete ]] # another process may have been first
  rm -rf "$fetch"
fi
[[ ${1:-} == --fetch ]] && { echo "$lib"; exit; }

home=$(mktemp -d "${TMPDIR:-/tmp}/graphcloak-neo4j.XXXXXX")
server=
stop() { # SIGTERM is a clean shutdown; what still runs after 20 s is killed
  trap - EXIT
  if [[ -n $server ]]; then
    kill "$server" 2>/dev/null || true
    for _ in $(seq 100); do kill -0 "$server" 2>/dev/null || break; sleep 0.2; done
    kill -9 "$server" 2>/dev/null || true
  fi
  rm -rf "$home"
}
trap stop EXIT
trap 'exit 130' INT TERM
mkdir -p "$home"/{conf,data,logs,plugins,run,import,licenses}
cat >"$home/conf/neo4j.conf" <<CONF
server.default_listen_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:$port
server.bolt.advertised_address=127.0.0.1:$port
server.http.enabled=false
server.https.enabled=false
server.memory.pagecache.size=256m
server.directories.lib=$lib
dbms.usage_report.enabled=false
${NEO4J_CONF_EXTRA:-}
CONF
# A calendar version announces itself on every network it finds unless told not to.
[[ $version == 5.* ]] || echo server.fleet_discovery.enabled=false >>"$home/conf/neo4j.conf"
admin() {
  NEO4J_HOME=$home NEO4J_CONF=$home/conf "$java" -Xmx256m -cp "$lib/*" org.neo4j.cli.AdminTool "$@" \
    >"$home/logs/admin.log" 2>&1 || { cat "$home/logs/admin.log" >&2; exit 1; }
}
admin dbms set-initial-password "$password"
serve() {
  : >"$home/logs/console.log"
  "$java" -Xms"$heap" -Xmx"$heap" -XX:+UseG1GC -XX:TieredStopAtLevel=1 -Djdk.nio.maxCachedBufferSize=1024 \
    -Dio.netty.tryReflectionSetAccessible=true -Dlog4j2.disable.jmx=true --add-opens=java.base/java.nio=ALL-UNNAMED \
    --add-opens=java.base/java.io=ALL-UNNAMED --add-opens=java.base/sun.nio.ch=ALL-UNNAMED --add-modules=jdk.incubator.vector \
    -cp "$lib/*" "$main" --home-dir="$home" --config-dir="$home/conf" --console-mode >"$home/logs/console.log" 2>&1 </dev/null &
  server=$!
  for _ in $(seq 1500); do
    grep -q 'Started\.$' "$home/logs/console.log" && { echo "ready neo4j://127.0.0.1:$port neo4j $password $server"; return; }
    kill -0 "$server" 2>/dev/null || break
    sleep 0.2
  done
  tail -40 "$home/logs/console.log" >&2
  exit 1
}
serve
while read -r _; do # a line: the server is killed, and started again on the same data
  kill -9 "$server"
  wait "$server" 2>/dev/null || true
  serve
done
