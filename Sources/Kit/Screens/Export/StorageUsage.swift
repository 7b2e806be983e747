/// The bytes that one account or profile has stored in an app, as its quota counts them.
package struct StorageUsage: Sendable, Equatable {
    /// All of them.
    package let bytes: Int
    /// Those of what is in the trash.
    package let trash: Int
    /// Those of what is not saved; nil in an app where everything is.
    package let drafts: Int?

    /// Describes what is stored.
    package init(bytes: Int, trash: Int, drafts: Int? = nil) {
        self.bytes = bytes
        self.trash = trash
        self.drafts = drafts
    }
}

/// What `GET /v1/usage` shows of an app.
package struct AppUsage: Sendable {
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
    package init(_ title: Text, of ownerName: String?, _ stored: StorageUsage, quota: StorageQuota, trash: Link) {
        self.title = title
        self.ownerName = ownerName
        self.stored = stored
        self.quota = quota
        self.trash = trash
    }
}
