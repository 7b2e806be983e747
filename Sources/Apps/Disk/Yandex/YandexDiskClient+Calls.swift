import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Screens
import Upstream

/// The API's response to a write.
enum CallOutcome: Sendable, Equatable {
    /// It is done; the path of the result, if the response has it.
    case done(place: DiskPath?)
    /// It continues; the operation has the status.
    case underWay(operation: String)
}

// Calls whose responses are not stored: writes, links, operations.
extension YandexDiskClient {
    /// Creates a folder.
    ///
    /// - Throws: ``DiskRefusal``, `UpstreamError`, as all of these calls do.
    func makeFolder(_ path: DiskPath, _ access: DiskAccess) async throws -> CallOutcome {
        try await write(.put, url("/resources", [("path", access.text(of: path))]), access, success: .created)
    }

    /// Moves an item to the trash, or deletes it permanently.
    ///
    /// - Parameter md5: Checksum of the file; another file is refused (409 `MD5DifferError`).
    func delete(_ path: DiskPath, permanently: Bool, md5: String? = nil, _ access: DiskAccess) async throws
        -> CallOutcome
    {
        var query = [("path", access.text(of: path)), ("permanently", String(permanently))]
        if let md5 { query.append(("md5", md5)) }
        return try await write(.delete, url("/resources", query), access, success: .noContent)
    }

    /// Moves or copies an item.
    ///
    /// - Parameter action: `move` or `copy`.
    func transfer(_ action: String, from: DiskPath, to: DiskPath, overwrite: Bool, _ access: DiskAccess) async throws
        -> CallOutcome
    {
        let query = [("from", access.text(of: from)), ("path", access.text(of: to)), ("overwrite", String(overwrite))]
        return try await write(.post, url("/resources/\(action)", query), access, success: .created)
    }

    /// Publishes an item. Settings of the link in the body would be ignored.
    func publish(_ path: DiskPath, _ access: DiskAccess) async throws -> CallOutcome {
        try await write(.put, url("/resources/publish", [("path", access.text(of: path))]), access, success: .ok)
    }

    func linkEnd(_ path: DiskPath, _ access: DiskAccess) async throws -> LinkEnd {
        let settings: PublicSettingsRecord = try await read(publicSettings(path, access), access)
        return settings.end
    }

    /// Sets when the link of something published ends. An empty text removes its end, which is not documented, so
    /// that ``linkEnd(_:_:)`` has to confirm it.
    func setLinkEnd(_ end: LinkEnd, of path: DiskPath, _ access: DiskAccess) async throws {
        var fields = headerFields(access)
        fields[.contentType] = "application/json"
        let time = end.date.map { String(Int($0.timeIntervalSince1970)) } ?? #""""#
        let response = try await accepted(
            OutgoingRequest(
                method: .patch,
                url: publicSettings(path, access),
                headerFields: fields,
                body: Array(#"{"available_until":\#(time)}"#.utf8),
                isSentOnce: true
            )
        )
        guard response.status == .ok else {
            throw UpstreamError.badResponse(status: response.status, reason: "not the status of this call")
        }
    }

    private func publicSettings(_ path: DiskPath, _ access: DiskAccess) -> String {
        url("/public/resources/public-settings", [("path", access.text(of: path))])
    }

    func unpublish(_ path: DiskPath, _ access: DiskAccess) async throws -> CallOutcome {
        try await write(.put, url("/resources/unpublish", [("path", access.text(of: path))]), access, success: .ok)
    }

    func restore(_ path: DiskPath, name: String?, overwrite: Bool, _ access: DiskAccess) async throws -> CallOutcome {
        var query = [("path", access.text(of: path)), ("overwrite", String(overwrite))]
        if let name { query.append(("name", name)) }
        return try await write(.put, url("/trash/resources/restore", query), access, success: .created)
    }

    /// Permanently deletes an item of the trash, or all of them if the path is that of the trash.
    func purge(_ path: DiskPath, _ access: DiskAccess) async throws -> CallOutcome {
        let query = path.isRoot ? [] : [("path", access.text(of: path))]
        return try await write(.delete, url("/trash/resources", query), access, success: .noContent)
    }

    /// Returns the present state of a file or folder, also of one in the trash.
    func current(_ path: DiskPath, _ access: DiskAccess) async throws -> DiskItem {
        let record: ResourceRecord = try await read(itemURL(path, in: access.folder), access)
        guard let item = try record.about(path).item else {
            throw UpstreamError.badResponse(status: .ok, reason: "not what Yandex Disk promises")
        }
        return item
    }

    func content(of folder: DiskPath, _ page: PageRequest, _ access: DiskAccess) async throws -> ResourceRecord {
        let query = folderQuery(folder, page, sort: "path", in: access.folder)
        let record: ResourceRecord = try await read(url("/resources", query), access)
        return try record.listing(folder, page)
    }

    /// Returns the account that a token belongs to.
    func info(_ token: String) async throws -> DiskInfoRecord { try await read(url(""), DiskAccess(token: token)) }

    /// Returns the folder of the application that a token belongs to, and the user's identity.
    func appFolder(_ token: String) async throws -> (folder: AppFolder, uid: String) {
        let query = [("path", "app:/"), ("limit", "0"), ("fields", "path,type,name,resource_id")]
        let record: ResourceRecord = try await read(url("/resources", query), DiskAccess(token: token))
        guard let item = record.item, !item.path.isRoot else {
            throw UpstreamError.badResponse(status: .ok, reason: "not what Yandex Disk promises")
        }
        let parts = (item.resourceID ?? "").split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return (AppFolder(item.path), try Self.validated(uid: parts.count == 2 ? String(parts[0]) : nil))
    }

    /// Returns the identity of a user if an account can be named by it (``AppFolder/account(of:)``).
    static func validated(uid: String?) throws(UpstreamError) -> String {
        guard let uid, !uid.isEmpty, uid.utf8.count <= 256, !uid.utf8.contains(where: { $0 <= 0x20 }) else {
            throw .badResponse(status: .ok, reason: "an account without an identity")
        }
        return uid
    }

    /// Returns whether a token opens the whole Disk.
    func opensDisk(_ token: String) async throws -> Bool {
        do {
            _ = try await current(.root, DiskAccess(token: token))
            return true
        } catch let refusal as DiskRefusal where refusal.right != nil {
            return false
        }
    }

    /// Returns the address of a file's bytes: a secret that opens the file to anyone for some hours.
    func downloadLink(_ path: DiskPath, _ access: DiskAccess) async throws -> String {
        let link: LinkRecord = try await read(url("/resources/download", [("path", access.text(of: path))]), access)
        return link.href
    }

    /// Returns the address of a small picture, and the version of the file that it shows.
    func previewLink(_ path: DiskPath, size: PreviewSize, _ access: DiskAccess) async throws -> (
        href: String?, item: DiskItem?
    ) {
        let fields = (Self.itemFields + ["preview"]).joined(separator: ",")
        let query = [
            ("path", access.text(of: path)), ("limit", "0"), ("preview_size", size.text),
            ("preview_crop", String(size.isCropped)), ("fields", fields),
        ]
        let record: ResourceRecord = try await read(url("/resources", query), access)
        return (record.preview, try record.about(path).item)
    }

    /// Returns the address to which a file is uploaded.
    func uploadLink(_ path: DiskPath, overwrite: Bool, _ access: DiskAccess) async throws -> LinkRecord {
        let query = [("path", access.text(of: path)), ("overwrite", String(overwrite))]
        return try await read(url("/resources/upload", query), access)
    }

    /// Returns the status of an operation.
    ///
    /// - Parameter operation: The identifier in ``CallOutcome/underWay(operation:)``; used below the configured
    ///   address.
    func operation(_ operation: String, _ access: DiskAccess) async throws -> DiskOperation.Status {
        let identity = PercentEncoding.encode(operation, allowed: .unreserved)
        let record: OperationRecord = try await read(url("/operations/\(identity)"), access)
        switch record.status {
        case "success": return .done
        case "failed", "failure": return .failed
        default: return .running
        }
    }

    /// Sends a write, once.
    ///
    /// - Parameter success: The status with which the API says that this call is done, beside 202. Another server, such
    ///   as a captive portal, has sent any other 2xx.
    private func write(
        _ method: HTTPRequest.Method,
        _ url: String,
        _ access: DiskAccess,
        success: HTTPResponse.Status
    ) async throws -> CallOutcome {
        let response = try await accepted(
            OutgoingRequest(method: method, url: url, headerFields: headerFields(access), isSentOnce: true)
        )
        if response.status == .accepted {
            let link: LinkRecord = try Self.decoded(response)
            guard let id = Self.operationID(in: link.href) else {
                throw UpstreamError.badResponse(status: response.status, reason: "an operation without an identity")
            }
            return .underWay(operation: id)
        }
        guard response.status == success else {
            throw UpstreamError.badResponse(status: response.status, reason: "not the status of this call")
        }
        guard success == .ok || !response.body.isEmpty else { return .done(place: nil) }
        let link: LinkRecord = try Self.decoded(response)
        let place = Self.place(in: link.href)
        return .done(place: access.folder.map { folder in place.flatMap(folder.shown) } ?? place)
    }

    /// Returns the path in the address of a resource, `…/resources?path=disk:/…`; nil if it has none.
    static func place(in href: String) -> DiskPath? {
        URLComponents(string: href)?.queryItems?.first { $0.name == "path" }?.value.flatMap { DiskPath($0) }
    }

    private func read<Record: Decodable & Sendable>(_ url: String, _ access: DiskAccess) async throws -> Record {
        let response = try await accepted(OutgoingRequest(url: url, headerFields: headerFields(access)))
        return try Self.decoded(response, in: access.folder)
    }

    /// Returns the 2xx response to a request.
    ///
    /// - Throws: ``DiskRefusal`` if the API refuses it; `UpstreamError`.
    private func accepted(_ request: OutgoingRequest) async throws -> IncomingResponse {
        do {
            let response = try await upstream.call(request, errors: Self.errors)
            guard response.status.kind == .successful else {
                throw UpstreamError.badResponse(status: response.status, reason: "status \(response.status.code)")
            }
            return response
        } catch {
            throw DiskRefusal(error)?.needing(right(of: request)) ?? error
        }
    }

    private func right(of request: OutgoingRequest) -> DiskRight {
        if request.url == url("") { return .info }
        return request.method == .get && !request.url.hasPrefix(url("/resources/upload")) ? .read : .write
    }

    /// Returns the identifier in an address: `…/operations/<id>`, or `operations?id=<id>` as in older responses.
    static func operationID(in href: String) -> String? {
        guard let components = URLComponents(string: href) else { return nil }
        let id =
            components.queryItems?.first { $0.name == "id" }?.value
            ?? components.path.split(separator: "/").last.map(String.init)
        return id.flatMap { $0.isEmpty || $0 == "operations" || $0.utf8.count > 256 ? nil : $0 }
    }
}
