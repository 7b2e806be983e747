/// The most bytes that one account or profile may store in an app, so that none fills the disk for all.
package struct StorageQuota: Sendable, Equatable {
    /// Whose data a quota is for.
    package enum Owner: Sendable, Equatable {
        /// An account of the app.
        case account
        /// A profile, by its name.
        case profile(String)

        /// The screen that shows what the owner has stored.
        var usage: Link {
            let path: Link = "/v1/usage"
            guard case .profile(let name) = self, name != "local" else { return path }
            return path.query("profile", name)
        }
    }

    /// No limit.
    package static let unlimited = StorageQuota(bytes: .max, of: .account)

    /// The most bytes.
    package let bytes: Int
    /// Whose data it is for.
    package let owner: Owner

    /// Creates the quota of an owner.
    package init(bytes: Int, of owner: Owner) {
        self.bytes = bytes
        self.owner = owner
    }

    /// Checks that something can be added, before the work of making it.
    ///
    /// - Throws: ``Problem`` 507 `quota-exceeded` if nothing can.
    package func checkRoom(beside usage: StorageUsage) throws(Problem) {
        if usage.bytes >= bytes { throw exceeded(usage, by: nil) }
    }

    /// Runs a change in its transaction. What makes the data smaller, or leaves it as large, is never refused.
    ///
    /// - Parameters:
    ///   - usage: reads what is stored.
    ///   - change: the change.
    /// - Throws: ``Problem`` 507 `quota-exceeded` if more is stored after it than before and than may be; what the
    ///   closures throw.
    package func holding<Value>(_ usage: () throws -> StorageUsage, _ change: () throws -> Value) throws -> Value {
        let before = try usage()
        let value = try change()
        let after = try usage()
        if after.bytes > bytes, after.bytes > before.bytes { throw exceeded(before, by: after.bytes - before.bytes) }
        return value
    }

    private func exceeded(_ usage: StorageUsage, by added: Int?) -> Problem {
        let detail = Text.quotaExceeded(self, usage, added: added)
        return Problem(
            .quotaExceeded,
            detail,
            dialog: Problem.Dialog(title: .quotaIsUsedUp, message: detail),
            href: owner.usage
        )
    }
}
