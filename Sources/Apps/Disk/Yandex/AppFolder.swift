import Foundation

/// The folder of an application on a Disk, which is all that a token with the right `cloud_api:disk.app_folder` alone
/// opens. The app shows it as a Disk of its own.
///
/// Requests name paths in it by `app:/…`, responses by their absolute paths ("App folders" of the documentation).
struct AppFolder: Sendable, Equatable {
    private static let scheme = "app:/"
    /// The folder as responses of the API name it.
    let path: DiskPath

    init(_ path: DiskPath) { self.path = path }

    /// Reads the folder in the name of an account; nil for the account of a whole Disk.
    init?(ofAccount account: String) {
        let parts = account.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let path = DiskPath(String(parts[1])) else { return nil }
        self.path = path
    }

    /// Returns the name of the account that has the folder as its Disk. Accounts of different rights have different
    /// rows.
    func account(of uid: String) -> String { "\(uid) \(path.text)" }

    /// Returns the identity of the user of an account.
    static func uid(ofAccount account: String) -> Substring { account.prefix { $0 != " " } }

    /// Returns a path as requests name it.
    func text(of shown: DiskPath) -> String {
        shown.scheme == .trash ? shown.text : Self.scheme + shown.text.dropFirst(DiskPath.root.text.count)
    }

    /// Returns the path that the app shows for one of a response; nil if it is not in the folder.
    func shown(_ path: DiskPath) -> DiskPath? {
        if path == self.path { return .root }
        guard self.path.contains(path) else { return nil }
        return DiskPath(DiskPath.root.text + String(Substring(path.text.utf8.dropFirst(self.path.below.utf8.count))))
    }
}

extension CodingUserInfoKey {
    private static let name = "disk.app-folder"
    /// The folder of the application to which the paths of a response are relative.
    static var appFolder: CodingUserInfoKey? { CodingUserInfoKey(rawValue: name) }
}

extension JSONDecoder {
    /// Creates a decoder of responses to requests of an account, whose paths become those that the app shows.
    convenience init(in folder: AppFolder?) {
        self.init()
        if let key = CodingUserInfoKey.appFolder { userInfo[key] = folder }
    }
}

extension Decoder {
    /// Returns the path that the app shows for one of a response; nil if it is none, or not in the account's folder.
    func shownPath(_ text: String) -> DiskPath? {
        let folder = CodingUserInfoKey.appFolder.flatMap { userInfo[$0] as? AppFolder }
        guard let path = DiskPath(text) else { return DiskPath(text, scheme: .trash) }
        return folder.map { $0.shown(path) } ?? path
    }
}

/// The access of one login to the API.
struct DiskAccess: Sendable {
    let token: String
    /// The folder that it is confined to; nil for the whole Disk.
    var folder: AppFolder?

    /// Returns a path as requests of this login name it.
    func text(of path: DiskPath) -> String { folder?.text(of: path) ?? path.text }
}
