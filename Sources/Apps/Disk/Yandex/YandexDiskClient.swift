import Crypto
import Foundation
import HTTPTypes
public import Storage
public import Upstream

/// Yandex Disk REST API v1, as far as the app uses it. Source: yandex.com/dev/disk-api.
public struct YandexDiskAPI: Sendable {
    let upstream: Upstream
    let freshness: Duration
    private let hasher: CredentialHasher

    /// The API behind an upstream. `freshness` is how long lists count as fresh; `hasher` makes accounts into keys of
    /// the store.
    public init(upstream: Upstream, freshness: Duration, hasher: CredentialHasher) {
        self.upstream = upstream
        self.freshness = freshness
        self.hasher = hasher
    }

    /// Whose responses are whose: by account, not by token, so that a refreshed token finds what its predecessor fetched.
    func credential(of account: String) -> CredentialHash { hasher.hash("yandex_disk account \(account)") }

    /// Fields of a resource that the app asks for: without `file`, `preview` and `sizes`, since their links open files
    /// to whoever has them.
    static let itemFields = [
        "path", "name", "type", "size", "created", "modified", "media_type", "mime_type", "md5", "resource_id",
        "public_key", "public_url",
    ]
    private static let trashFields = itemFields + ["origin_path", "deleted"]

    /// Absolute URL of a call. Values are percent-encoded here.
    func url(_ path: String, _ query: [(String, String)] = []) -> String {
        let text = query.map { "\($0.0)=\(DiskPath.encoded($0.1))" }.joined(separator: "&")
        return upstream.configuration.url(of: path) + (text.isEmpty ? "" : "?\(text)")
    }

    func headerFields(_ token: String) -> HTTPFields {
        [.authorization: "OAuth \(token)", .accept: "application/json"]
    }
}

// What is read through the cache.
extension YandexDiskAPI {
    typealias PersistRows<Record> = @Sendable (Record) throws(UpstreamError) -> Resource.PersistRows

    /// `GET /v1/disk`: sizes, and who it is.
    func info(_ token: String, account: String, validate: @escaping PersistRows<DiskInfoRecord>) -> Resource {
        resource(url(""), token, account: account, validate: validate)
    }

    /// A folder's part, or a file by itself.
    func folder(
        _ path: DiskPath,
        limit: Int,
        offset: Int,
        sort: String,
        _ token: String,
        account: String,
        validate: @escaping PersistRows<ResourceRecord>
    )
        -> Resource
    {
        let fields =
            Self.itemFields + ["_embedded.total", "_embedded.offset"] + Self.itemFields.map { "_embedded.items.\($0)" }
        let query = [
            ("path", path.text), ("limit", String(limit)), ("offset", String(offset)), ("sort", sort),
            ("fields", fields.joined(separator: ",")),
        ]
        return resource(
            url("/resources", query),
            token,
            account: account,
            errors: path.isRoot ? Self.errorsOfRoot : Self.errors
        ) {
            (record: ResourceRecord) throws(UpstreamError) in
            try validate(try record.listing(path, limit: limit, offset: offset))
        }
    }

    /// One file or folder without what is in it.
    func item(_ path: DiskPath, _ token: String, account: String, validate: @escaping PersistRows<ResourceRecord>)
        -> Resource
    {
        resource(itemURL(path), token, account: account, errors: path.isRoot ? Self.errorsOfRoot : Self.errors) {
            (record: ResourceRecord) throws(UpstreamError) in try validate(try record.about(path))
        }
    }

    func itemURL(_ path: DiskPath) -> String {
        let (call, fields) =
            path.scheme == .trash ? ("/trash/resources", Self.trashFields) : ("/resources", Self.itemFields)
        return url(call, [("path", path.text), ("limit", "0"), ("fields", fields.joined(separator: ","))])
    }

    /// The last uploaded files, newest first. The call knows no offset.
    func lastUploaded(
        limit: Int,
        mediaTypes: String,
        _ token: String,
        account: String,
        validate: @escaping PersistRows<FlatListRecord>
    ) -> Resource {
        let query = [("limit", String(limit)), ("media_type", mediaTypes), ("fields", Self.flatFields)]
        return resource(url("/resources/last-uploaded", query), token, account: account) {
            (record: FlatListRecord) throws(UpstreamError) in
            try validate(try record.listing(offset: 0) { $0.kind == .file })
        }
    }

    /// Published files and folders. `type` nil: both.
    func published(
        limit: Int,
        offset: Int,
        type: String?,
        _ token: String,
        account: String,
        validate: @escaping PersistRows<FlatListRecord>
    ) -> Resource {
        var query = [("limit", String(limit)), ("offset", String(offset)), ("fields", Self.flatFields)]
        if let type { query.append(("type", type)) }
        return resource(url("/resources/public", query), token, account: account) {
            (record: FlatListRecord) throws(UpstreamError) in
            try validate(try record.listing(offset: offset) { _ in true })
        }
    }

    /// All files, flat, by path.
    func allFiles(
        limit: Int,
        offset: Int,
        _ token: String,
        account: String,
        validate: @escaping PersistRows<FlatListRecord>
    )
        -> Resource
    {
        let query = [
            ("limit", String(limit)), ("offset", String(offset)), ("sort", "path"), ("fields", Self.flatFields),
        ]
        var resource = resource(url("/resources/files", query), token, account: account) {
            (record: FlatListRecord) throws(UpstreamError) in
            try validate(try record.listing(offset: offset) { $0.kind == .file })
        }
        resource.freshness = max(freshness, .seconds(60))
        return resource
    }

    /// What is in the trash.
    func trash(
        limit: Int,
        offset: Int,
        _ token: String,
        account: String,
        validate: @escaping PersistRows<ResourceRecord>
    )
        -> Resource
    {
        let fields =
            ["path", "name", "type", "_embedded.total", "_embedded.offset"]
            + Self.trashFields.map { "_embedded.items.\($0)" }
        let query = [
            ("path", "trash:/"), ("limit", String(limit)), ("offset", String(offset)),
            ("fields", fields.joined(separator: ",")),
        ]
        return resource(url("/trash/resources", query), token, account: account, errors: Self.errorsOfRoot) {
            (record: ResourceRecord) throws(UpstreamError) in
            try validate(try record.listing(.trash, limit: limit, offset: offset))
        }
    }

    private static let flatFields = (["limit", "offset"] + itemFields.map { "items.\($0)" }).joined(separator: ",")

    private func resource<Record: Decodable & Sendable>(
        _ url: String,
        _ token: String,
        account: String,
        errors: ErrorForm = Self.errors,
        validate: @escaping PersistRows<Record>
    ) -> Resource {
        var resource = Resource(
            url: url,
            headerFields: headerFields(token),
            credential: credential(of: account),
            freshness: freshness,
            validate: { response throws(UpstreamError) in try validate(try Self.decoded(response)) }
        )
        resource.errors = errors
        // Rows say all that is shown, and an upstream that does not heed `fields` sends links with it.
        resource.keepsBody = false
        return resource
    }

    static func decoded<Record: Decodable & Sendable>(_ response: IncomingResponse) throws(UpstreamError) -> Record {
        do {
            return try JSONDecoder().decode(Record.self, from: Data(response.body))
        } catch DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty {
            throw .badResponse(status: response.status, reason: "not JSON")
        } catch {
            throw .badResponse(status: response.status, reason: "not what Yandex Disk promises")
        }
    }
}
