package import Cluster
package import GRDB
package import Storage
package import Upstream

extension UserDatabase {
    /// Returns the writing of rows that an app makes of a response: in the transaction that stores the response, or
    /// before it if several servers share the rows.
    ///
    /// - Parameters:
    ///   - next: writes the next part, and returns it and whether it was the last one. It may run again after a part
    ///     that was not committed.
    ///   - committed: is called after the commit of each part.
    package func persistRows<Part: Sendable>(
        scope: String,
        next: @escaping @Sendable (Database) throws -> (part: Part, isLast: Bool),
        committed: @escaping @Sendable (Part) -> Void
    ) -> Resource.PersistRows {
        guard isShared else {
            return .inParts { db in
                let (part, isLast) = try next(db)
                db.afterNextTransaction { _ in committed(part) }
                return isLast
            }
        }
        return .before {
            var isComplete = false
            while !isComplete {
                let (part, isLast) = try await write(scope: scope, next)
                committed(part)
                isComplete = isLast
            }
        }
    }
}

extension FileContent {
    /// Serves a file that a row names.
    package init(
        _ content: UserDatabase.Content,
        of blob: Blob,
        type: String,
        version: String,
        fileName: String? = nil,
        disposition: Disposition = .inline
    ) {
        switch content {
        case .file(let reader):
            self.init(blob: reader, type: type, version: version, fileName: fileName, disposition: disposition)
        case .parts(let parts):
            self.init(
                type: type,
                length: blob.length,
                version: version,
                fileName: fileName,
                disposition: disposition,
                parts: parts
            )
        }
    }
}

extension UserDatabase.Lag {
    /// The notification for a screen that shows the rows.
    package var banner: Banner { .storeUnavailable(age: age) }
}

extension Meta {
    /// Returns the metadata of a screen of users' rows that may lack changes of other servers.
    ///
    /// - Parameter lag: nil if they lack none.
    package func lagging(_ lag: UserDatabase.Lag?) -> Meta {
        guard let lag else { return self }
        var meta = self
        meta.stale = true
        meta.freshnessText = meta.freshnessText ?? lag.banner.text
        meta.banner = lag.banner
        return meta
    }
}
