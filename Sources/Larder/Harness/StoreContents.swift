import Database

/// The files with which the data directory of a server under test begins.
protocol StoreContents: Sendable {
    /// Whether the key that seals the secrets is among them; otherwise that of the directory stays.
    var hasKey: Bool { get }

    /// Whether this process has made the files, so that they need no check and no migration.
    var isMadeHere: Bool { get }

    /// Writes the files into a directory that has nothing but its lock and ``PristineDirectory/lasting``.
    ///
    /// - Throws: `StorageError`; file errors.
    func write(to directory: DataDirectory) throws
}

extension StoreContents {
    var isMadeHere: Bool { true }
}
