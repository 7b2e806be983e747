import Foundation

/// A file or a folder.
struct DiskNode: Sendable {
    /// Unique among all accounts.
    let id: Int
    var parent: Int
    /// In the trash this one has a suffix; ``Trashed/name`` is the one that people see.
    var name: String
    /// Of a folder; nil for a file.
    var children: [NameKey: Int]?
    /// Of a file.
    var content: DiskContent?
    /// The service's judgement of the content; nil if the name decides.
    var judgedType: DiskFileType?
    /// From the camera, for photos.
    var exif = JSONObject()
    var created: Date
    var modified: Date
    /// Grows with each change on the account; like the service's, in microseconds.
    var revision: Int
    /// The revision of the upload: what `last-uploaded` is ordered by.
    var uploaded: Int
    var publication: Publication?
    var properties: Properties = .none
    var trashed: Trashed?

    var isDirectory: Bool { children != nil }

    /// The name that people see.
    var displayName: String { trashed?.name ?? name }

    var type: DiskFileType { judgedType ?? DiskFileType(of: displayName) }

    struct Publication: Sendable, Equatable, Codable {
        var key: String
        var url: String
        var views = 0
        var settings = JSONObject()
        var revision: Int
    }

    struct Trashed: Sendable, Equatable, Codable {
        var name: String
        var origin: DiskPath
        var at: Date
    }

    /// `custom_properties`: absent until the first PATCH, then an object, or null when it has become empty.
    enum Properties: Sendable, Equatable, Codable {
        case none
        case some(JSONObject)
    }
}

/// A user of the service.
struct DiskAccount: Sendable, Equatable, Codable {
    let login: String
    let displayName: String
    let uid: String
    let country: String
    let isPaid: Bool
    let registered: Date
}
