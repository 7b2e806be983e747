/// Options for opening a database.
package struct DatabaseOptions: Sendable {
    /// When the pages of a database are checked before it is used. The check reads the whole file.
    package enum IntegrityCheck: Sendable {
        case always
        /// When the last process ended without closing it. SQLite recovers from that by itself; the check looks for a
        /// disk that lied.
        case afterUncleanStop
        /// Never; a damaged page shows when it is read.
        case never
    }

    /// When the pages are checked. Only the file's header is looked at in any case.
    package var integrityCheck: IntegrityCheck
    /// Number of connections that read at the same time. Each caches up to 4 MiB of pages.
    package var maximumReaderCount: Int
    /// How long a connection waits for a lock of another one on the database, in seconds.
    package var busyTimeout: Double
    /// Whether acknowledged writes survive a loss of power. Data that ends with its process does not need that.
    package var isDurable = true
    /// Whether the files are known to be those that this process has made and closed in order. They are neither checked
    /// nor migrated then.
    package var trustsFiles = false
    /// Called with the SQL of each statement that is run, for tests; nil costs nothing.
    package var trace: (@Sendable (String) -> Void)?

    /// Creates options; the defaults fit a server.
    package init(
        integrityCheck: IntegrityCheck = .afterUncleanStop,
        maximumReaderCount: Int = 5,
        busyTimeout: Double = 5
    ) {
        self.integrityCheck = integrityCheck
        self.maximumReaderCount = maximumReaderCount
        self.busyTimeout = busyTimeout
    }
}
