/// `GET /v1/usage`.
struct UsageScreen: Encodable, Sendable {
    struct App: Encodable, Sendable {
        let app: String
        let title: Text
        /// `account` or `profile`.
        let owner: String
        /// Name of the account or the profile; null if the session has none.
        @Nullable var ownerName: String?
        let usedBytes: Int
        let usedText: Text
        let quotaBytes: Int
        let quotaText: Text
        /// Whether nothing can be added.
        let full: Bool
        let parts: [Part]
    }

    /// A part of what is stored.
    struct Part: Encodable, Sendable {
        let part: String
        let title: Text
        let bytes: Int
        let bytesText: Text
        /// The screen that shows it; null if there is none.
        @Nullable var href: Link?
    }

    let apps: [App]
}

extension UsageScreen.App {
    /// - Parameter profile: that of the request; links name it where the app has profiles.
    init(_ app: String, _ usage: AppUsage, profile: String) {
        let (stored, quota) = (usage.stored, usage.quota)
        self.app = app
        title = usage.title
        _ownerName = Nullable(wrappedValue: usage.ownerName)
        usedBytes = stored.bytes
        usedText = .size(stored.bytes)
        quotaBytes = quota.bytes
        quotaText = .size(quota.bytes)
        full = stored.bytes >= quota.bytes
        let trash: Link
        switch quota.owner {
        case .account: (owner, trash) = ("account", usage.trash)
        case .profile:
            let target = usage.trash.requestTarget(in: Link.Profile(profile, of: app))
            (owner, trash) = ("profile", Link(encoded: target))
        }
        let drafts = stored.drafts.map { UsageScreen.Part("drafts", .notSavedYet, $0, nil) }
        parts = [UsageScreen.Part("trash", .trash, stored.trash, trash)] + (drafts.map { [$0] } ?? [])
    }
}

extension UsageScreen.Part {
    fileprivate init(_ part: String, _ title: Text, _ bytes: Int, _ href: Link?) {
        self.init(part: part, title: title, bytes: bytes, bytesText: .size(bytes), href: href)
    }
}
