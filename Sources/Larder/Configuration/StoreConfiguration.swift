import Cluster
import Screens
import Storage

/// The settings `store.*` of the data that several processes share.
struct StoreConfiguration: Sendable {
    let options: PostgresOptions
    /// The path of the file with the key of sealed secrets; nil for none.
    let keyFile: String?

    /// Returns nil without a store.
    ///
    /// - Throws: `SettingError` if a served app stores users' data in the data directory.
    init?(_ settings: SettingValues, apps: AppList, isUnderTest: Bool) throws(SettingError) {
        let url = settings[ServerSettings.storeURL]
        guard !url.isEmpty else { return nil }
        guard url.hasPrefix("postgresql://") || url.hasPrefix("postgres://") else {
            throw Self.refused("an address postgresql://…")
        }
        guard !PostgresOptions(url: url).hasSeveralHosts else {
            throw Self.refused("one host: a proxy decides which of several is the primary")
        }
        let missing = apps.types.filter { $0.replicated == nil }.map { $0.name }
        guard missing.isEmpty else {
            throw Self.refused(
                "apps that it is built for, and it is not built for \(missing.joined(separator: ", ")): "
                    + "name the others in node.apps"
            )
        }
        let keyFile = settings[ServerSettings.storeKeyFile]
        let sealing = apps.types.filter { $0.sealsSharedSecrets }.map { $0.name }
        guard !keyFile.isEmpty || sealing.isEmpty else {
            throw Self.refused("a key, which \(sealing.joined(separator: ", ")) needs: name its file in store.key_file")
        }
        self.keyFile = keyFile.isEmpty ? nil : keyFile
        guard settings[HTTPSettings.access] != .pairing else {
            throw Self.refused("http.access loopback or open: paired devices are those of one process")
        }
        guard !isUnderTest else { throw Self.refused("no harness: a reset would erase what others use") }
        var options = PostgresOptions(url: url)
        options.connections = settings[ServerSettings.storeConnections]
        options.timeout = settings[ServerSettings.storeTimeout]
        self.options = options
    }

    /// Reads the key of sealed secrets.
    ///
    /// - Returns: Nil without a file.
    /// - Throws: `StorageError` if the file is missing or holds no key.
    func seal() throws -> ClusterSeal? {
        try keyFile.map { ClusterSeal(key: try SealingKey.read(path: $0)) }
    }

    /// The address is not repeated, because it may contain a password.
    private static func refused(_ accepted: String) -> SettingError {
        .unacceptable(key: ServerSettings.storeURL.key, value: "…", source: "settings", accepted: accepted)
    }
}
