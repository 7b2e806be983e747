/// The bytes that one account or profile has stored in an app, as its quota counts them.
public struct StorageUsage: Sendable, Equatable {
    /// All of them.
    public let bytes: Int
    /// Those of what is in the trash.
    public let trash: Int
    /// Those of what is not saved; nil in an app where everything is.
    public let drafts: Int?

    /// Describes what is stored.
    public init(bytes: Int, trash: Int, drafts: Int? = nil) {
        self.bytes = bytes
        self.trash = trash
        self.drafts = drafts
    }
}

/// What `GET /v1/usage` shows of an app.
public struct AppUsage: Sendable {
    let title: Text
    let ownerName: String?
    let quota: StorageQuota
    let stored: StorageUsage
    let trash: Link

    /// Describes what an owner has stored in an app.
    ///
    /// - Parameters:
    ///   - title: what it is: `Notes`.
    ///   - ownerName: name of the account or the profile.
    ///   - trash: the screen of the trash.
    public init(_ title: Text, of ownerName: String?, _ stored: StorageUsage, quota: StorageQuota, trash: Link) {
        self.title = title
        self.ownerName = ownerName
        self.stored = stored
        self.quota = quota
        self.trash = trash
    }
}
