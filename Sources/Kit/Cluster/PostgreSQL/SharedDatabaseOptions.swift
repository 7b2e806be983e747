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

    /// Creates options with the defaults.
    package init(url: String) {
        self.url = url
    }
}
