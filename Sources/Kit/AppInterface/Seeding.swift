package import GRDB
package import Screens

/// What an app takes of a document that fills a server under test (docs/harness.md, "Seeds").
package struct Seeding: Sendable {
    /// Reads one item of a member. Nothing is stored before all items of the document have been read.
    ///
    /// Throws a `Problem` whose pointers are those within the item.
    package typealias Item = @Sendable (_ fields: JSONFields) async throws -> SeedStep
    /// Reads an account, whose session has a token.
    package typealias Account = @Sendable (_ fields: JSONFields, _ token: String) async throws -> SeedStep

    /// The members of the document that are the app's, by name; each is a list of items.
    package let members: [String: Item]
    /// Reads an account of the app; nil if it has none.
    package let account: Account?

    /// Collects what an app takes.
    package init(members: [String: Item] = [:], account: Account? = nil) {
        self.members = members
        self.account = account
    }
}

/// An item that was read.
package struct SeedStep: Sendable {
    /// Stores it, in the transaction of all items. Throws a `Problem` if it does not fit what is stored.
    package let store: @Sendable (Database) throws -> Void
    /// Is called once the transaction has ended well.
    package let stored: @Sendable () -> Void
    /// Is called if nothing was stored.
    package let discarded: @Sendable () -> Void

    /// Describes an item.
    package init(
        store: @escaping @Sendable (Database) throws -> Void,
        stored: @escaping @Sendable () -> Void = {},
        discarded: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.stored = stored
        self.discarded = discarded
    }
}
