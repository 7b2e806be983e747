import Foundation

/// How a store is reached and used.
package struct SharedDatabaseOptions: Sendable {
    /// The address, as libpq takes it: `postgresql://larder@host/larder`, or
    /// `postgresql:///larder?host=/run/postgresql`. One host: which of several is the primary, a proxy decides.
    package var url: String
    /// Most connections at a time, without that of a ``ChangeListener``.
    package var connections = 16
    /// The longest time of one transaction, connecting included.
    package var timeout = Duration.seconds(3)
    /// Most callers that wait for a connection.
    package var maximumWaiting = 1000
    /// The name under which the server lists the connections.
    package var name = "larder"
    /// The channel of notifications.
    package var channel = "larder"
    /// Looks up the address of the server.
    package var lookup = HostLookup()

    /// Creates options with the defaults.
    package init(url: String) {
        self.url = url
    }

    /// Whether the address names several servers: libpq takes a host and its address (`hostaddr`) for one.
    package var hasSeveralHosts: Bool { hostLists.contains { $0.hosts.count > 1 } }

    /// The name of the server, if its address has to be looked up.
    var hostName: String? {
        guard url.contains("://"), !hostLists.contains(where: { $0.key == "hostaddr" }),
            let host = hostLists.last(where: { !$0.hosts.isEmpty })?.hosts.first, !host.isEmpty, !Self.isSocket(host)
        else { return nil }
        var bytes = in6_addr()
        return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1 ? nil : host
    }

    /// Names, addresses and folders of sockets by which libpq reaches the server: of the authority, `host`, `hostaddr`.
    private var hostLists: [(key: Substring, hosts: [String])] {
        let rest = url.components(separatedBy: "://").last ?? ""
        let authority = rest.prefix { !"/?".contains($0) }.split(separator: "@", omittingEmptySubsequences: false).last
        let named = (authority ?? "").split(separator: ",").map { host in
            let name = host.hasPrefix("[") ? host.dropFirst().prefix { $0 != "]" } : host.prefix { $0 != ":" }
            return name.removingPercentEncoding ?? String(name)
        }
        let query = (rest.split(separator: "?", maxSplits: 1).dropFirst().first ?? "").split(separator: "&")
        let queried = query.filter { $0.hasPrefix("host=") || $0.hasPrefix("hostaddr=") }.map { pair in
            let value = pair.drop { $0 != "=" }.dropFirst()
            let hosts = (value.removingPercentEncoding ?? String(value)).split(separator: ",").map { String($0) }
            return (pair.prefix { $0 != "=" }, hosts)
        }
        return [("host", named)] + queried
    }

    /// Whether connections are encrypted or fail: the address names another machine, and no `sslmode`.
    package var requiresTLS: Bool {
        let isLocal = hostLists.flatMap(\.hosts).allSatisfy { host in
            Self.isSocket(host) || host.hasPrefix("127.") || ["localhost", "::1"].contains(host)
        }
        return !isLocal && !url.contains("sslmode=")
    }

    private static func isSocket(_ host: String) -> Bool { host.hasPrefix("/") || host.hasPrefix("@") }
}
