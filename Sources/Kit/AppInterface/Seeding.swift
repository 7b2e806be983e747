public import GRDB
public import Screens

/// What an app takes of a document that fills a server under test (docs/harness.md, "Seeds").
public struct Seeding: Sendable {
    /// Reads one item of a member. Nothing is stored before all items of the document have been read.
    ///
    /// Throws a `Problem` whose pointers are those within the item.
    public typealias Item = @Sendable (_ fields: JSONFields) async throws -> SeedStep
    /// Reads an account, whose session has a token.
    public typealias Account = @Sendable (_ fields: JSONFields, _ token: String) async throws -> SeedStep

    /// The members of the document that are the app's, by name; each is a list of items.
    public let members: [String: Item]
    /// Reads an account of the app; nil if it has none.
    public let account: Account?

    /// Collects what an app takes.
    public init(members: [String: Item] = [:], account: Account? = nil) {
        self.members = members
        self.account = account
    }
}

/// An item that was read.
public struct SeedStep: Sendable {
    /// Stores it, in the transaction of all items. Throws a `Problem` if it does not fit what is stored.
    public let store: @Sendable (Database) throws -> Void
    /// Is called once the transaction has ended well.
    public let stored: @Sendable () -> Void
    /// Is called if nothing was stored.
    public let discarded: @Sendable () -> Void

    /// Describes an item.
    public init(
        store: @escaping @Sendable (Database) throws -> Void,
        stored: @escaping @Sendable () -> Void = {},
        discarded: @escaping @Sendable () -> Void = {}
    ) {
        self.store = store
        self.stored = stored
        self.discarded = discarded
    }
}
