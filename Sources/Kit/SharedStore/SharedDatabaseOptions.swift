/// How a store is reached and used.
public struct SharedDatabaseOptions: Sendable {
    /// The address, as libpq takes it: `postgresql://larder@host/larder`, or
    /// `postgresql:///larder?host=/run/postgresql`. One host: which of several is the primary, a proxy decides.
    public var url: String
    /// Most connections at a time, without that of a ``ChangeListener``.
    public var connections = 16
    /// The longest time of one transaction, connecting included.
    public var timeout = Duration.seconds(3)
    /// Most callers that wait for a connection.
    public var maximumWaiting = 1000
    /// The name under which the server lists the connections.
    public var name = "larder"
    /// The channel of notifications.
    public var channel = "larder"

    /// Creates options with the defaults.
    public init(url: String) {
        self.url = url
    }
}
