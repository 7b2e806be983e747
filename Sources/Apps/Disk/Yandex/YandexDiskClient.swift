import Foundation
import HTTP
import HTTPTypes
import Screens
import Storage
import Upstream

/// Client of the Yandex Disk REST API v1, as far as the app uses it. Source: yandex.com/dev/disk-api.
struct YandexDiskClient: Sendable {
    let upstream: Upstream
    let freshness: Duration
    /// How long the list of all files is fresh, which searches look through.
    let searchFreshness: Duration
    /// Turns accounts into keys of the store.
    let hasher: CredentialHasher

    var isReachable: Bool { upstream.reachability.isReachable }

    /// Returns the key of an account's responses: by account, not by token, so that a refreshed token finds the
    /// responses that its predecessor fetched.
    func credential(of account: String) -> CredentialHash { hasher.hash("yandex_disk account \(account)") }

    /// Fields of a resource that the app requests: without `file`, `preview` and `sizes`, whose links open files to
    /// anyone who has them.
    static let itemFields = [
        "path", "name", "type", "size", "created", "modified", "media_type", "mime_type", "md5", "sha256",
        "resource_id", "public_key", "public_url",
    ]
    private static let trashFields = itemFields + ["origin_path", "deleted"]
    private static let mediaType = "application/json"

    /// Returns the absolute URL of a call, with percent-encoded values.
    func url(_ path: String, _ query: [(String, String)] = []) -> String {
        let items = query.map { "\($0.0)=\(PercentEncoding.encode($0.1, allowed: .unreserved))" }
        let text = items.joined(separator: "&")
        return upstream.configuration.url(of: path) + (text.isEmpty ? "" : "?\(text)")
    }

    func headerFields(_ access: DiskAccess) -> HTTPFields {
        [.authorization: Self.authorization(access.token), .accept: Self.mediaType]
    }

    static func authorization(_ token: String) -> String { "OAuth \(token)" }
}

// Resources that are read through the store.
extension YandexDiskClient {
    typealias PersistRows<Record> = @Sendable (Record) throws(UpstreamError) -> Resource.PersistRows

    /// Returns the account and its space (`GET /v1/disk`).
    func info(account: String, validate: @escaping PersistRows<DiskInfoRecord>) -> Resource {
        resource(url(""), account: account, validate: validate)
    }

    /// Returns a part of a folder's content, or a file itself.
    ///
    /// - Parameter isPresent: Whether it is certainly there.
    func folder(
        _ path: DiskPath,
        _ page: PageRequest,
        sort: String,
        account: String,
        isPresent: Bool,
        validate: @escaping PersistRows<ResourceRecord>
    ) -> Resource {
        let errors = path.isRoot || isPresent ? Self.errorsOfPresent : Self.errorsOfReads
        return resource(
            url("/resources", folderQuery(path, page, sort: sort, in: AppFolder(ofAccount: account))),
            account: account,
            errors: errors
        ) {
            (record: ResourceRecord) throws(UpstreamError) in try validate(try record.listing(path, page))
        }
    }

    func folderQuery(_ path: DiskPath, _ page: PageRequest, sort: String, in folder: AppFolder?) -> [(String, String)] {
        let fields =
            Self.itemFields + ["_embedded.total", "_embedded.offset"] + Self.itemFields.map { "_embedded.items.\($0)" }
        return [
            ("path", folder?.text(of: path) ?? path.text), ("limit", String(page.limit)),
            ("offset", String(page.offset)), ("sort", sort), ("fields", fields.joined(separator: ",")),
        ]
    }

    /// Returns a file or folder without its content.
    ///
    /// - Parameter isPresent: Whether it is certainly there.
    func item(_ path: DiskPath, account: String, isPresent: Bool, validate: @escaping PersistRows<ResourceRecord>)
        -> Resource
    {
        let errors = path.isRoot || isPresent ? Self.errorsOfPresent : Self.errorsOfReads
        return resource(itemURL(path, in: AppFolder(ofAccount: account)), account: account, errors: errors) {
            (record: ResourceRecord) throws(UpstreamError) in try validate(try record.about(path))
        }
    }

    func itemURL(_ path: DiskPath, in folder: AppFolder?) -> String {
        let (call, fields) =
            path.scheme == .trash ? ("/trash/resources", Self.trashFields) : ("/resources", Self.itemFields)
        let text = folder?.text(of: path) ?? path.text
        return url(call, [("path", text), ("limit", "0"), ("fields", fields.joined(separator: ","))])
    }

    /// Returns the last uploaded files, newest first. The call has no offset.
    func lastUploaded(
        limit: Int,
        mediaTypes: String,
        account: String,
        validate: @escaping PersistRows<FlatListRecord>
    ) -> Resource {
        let page = PageRequest(limit: limit)
        return flatList("last-uploaded", page, [("media_type", mediaTypes)], account, .file, validate)
    }

    /// Returns published files and folders.
    ///
    /// - Parameter type: `file` or `dir`; nil for both.
    func published(
        _ page: PageRequest,
        type: String?,
        account: String,
        validate: @escaping PersistRows<FlatListRecord>
    ) -> Resource {
        let query = [("offset", String(page.offset))]
        return flatList("public", page, query, account, nil, type: type, validate)
    }

    func allFiles(_ page: PageRequest, account: String, validate: @escaping PersistRows<FlatListRecord>) -> Resource {
        let query = [("offset", String(page.offset)), ("sort", "path")]
        var resource = flatList("files", page, query, account, .file, validate)
        resource.freshness = searchFreshness
        return resource
    }

    private static let flatFields = (["limit", "offset"] + itemFields.map { "items.\($0)" }).joined(separator: ",")

    /// - Parameter kind: That of all rows; nil for any.
    private func flatList(
        _ call: String,
        _ page: PageRequest,
        _ query: [(String, String)],
        _ account: String,
        _ kind: DiskItem.Kind?,
        type: String? = nil,
        _ validate: @escaping PersistRows<FlatListRecord>
    ) -> Resource {
        var query = [("limit", String(page.limit))] + query + [("fields", Self.flatFields)]
        if let type { query.append(("type", type)) }
        return resource(url("/resources/\(call)", query), account: account) {
            (record: FlatListRecord) throws(UpstreamError) in
            try validate(try record.listing(page) { kind == nil || $0.kind == kind })
        }
    }

    /// Returns the content of the trash, the last deleted item first.
    func trash(_ page: PageRequest, account: String, validate: @escaping PersistRows<ResourceRecord>) -> Resource {
        let fields =
            ["path", "name", "type", "_embedded.total", "_embedded.offset"]
            + Self.trashFields.map { "_embedded.items.\($0)" }
        let query = [
            ("path", "trash:/"), ("limit", String(page.limit)), ("offset", String(page.offset)), ("sort", "-deleted"),
            ("fields", fields.joined(separator: ",")),
        ]
        return resource(url("/trash/resources", query), account: account, errors: Self.errorsOfPresent) {
            (record: ResourceRecord) throws(UpstreamError) in
            try validate(try record.listing(.trash, page))
        }
    }

    private func resource<Record: Decodable & Sendable>(
        _ url: String,
        account: String,
        errors: ErrorForm = Self.errorsOfReads,
        validate: @escaping PersistRows<Record>
    ) -> Resource {
        let folder = AppFolder(ofAccount: account)
        var resource = Resource(
            url: url,
            headerFields: [.accept: Self.mediaType],
            credential: credential(of: account),
            freshness: freshness,
            validate: { response throws(UpstreamError) in try validate(try Self.decoded(response, in: folder)) }
        )
        resource.errors = errors
        // Rows have all that is shown, and an API that ignores `fields` sends links with it.
        resource.keepsBody = false
        return resource
    }

    static func decoded<Record: Decodable & Sendable>(
        _ response: IncomingResponse,
        in folder: AppFolder? = nil
    ) throws(UpstreamError) -> Record {
        do {
            return try JSONDecoder(in: folder).decode(Record.self, from: Data(response.body))
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            throw .badResponse(status: response.status, reason: "not JSON")
        } catch {
            throw .badResponse(status: response.status, reason: "not what Yandex Disk promises")
        }
    }
}

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
