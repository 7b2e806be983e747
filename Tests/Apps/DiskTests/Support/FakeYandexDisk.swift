import Crypto
import Foundation
import HTTPTypes
import NIOCore
import Synchronization
import TestKit

@testable import Concurrency
@testable import Freshness
@testable import Upstream

/// A simulated Yandex Disk with the files of a test, as a transport: nothing leaves the process. Its requests are
/// recorded.
final class FakeYandexDisk: Transport {
    /// Handles a request before the Disk does.
    typealias Interception = @Sendable (OutgoingRequest) throws(UpstreamError) -> IncomingResponse?

    struct Node {
        var isFolder: Bool
        var bytes: [UInt8] = []
        /// Reported size, if it is not that of the bytes.
        var size: Int?
        var created = "2024-04-21T10:57:13+00:00"
        var modified = "2024-04-22T08:00:00+00:00"
        var mediaType: String?
        var mimeType: String?
        var publicURL: String?
        /// Seconds since 1970.
        var linkEnd: Int?
        var uploaded = 0
        var origin: String?
    }

    struct State {
        var nodes: [String: Node] = ["disk:/": Node(isFolder: true), "trash:/": Node(isFolder: true)]
        var tokens: [String: String] = ["good": "1130"]
        var total = 10_737_418_240
        var used = 3_511_500_000
        /// Whether links can have an end.
        var hasLinkEnds = true
        var operations: [String: (left: Int, end: String)] = [:]
        /// Polls until an operation ends; nil: writes are done at once.
        var pollsOfWrites: Int?
        var operationEnd = "success"
        var requests: [OutgoingRequest] = []
        var intercept: Interception?
        var uploads = 0
        /// Runs after a response was made and before it arrives.
        var onTheWay: (@Sendable (OutgoingRequest) async throws -> Void)?
        /// Whether a link for an upload names its operation, as that of the real one does.
        var namesUploads = false
        /// Runs after the last byte of an upload, before the file is there. If it throws, the response is lost.
        var processing: (@Sendable (OutgoingRequest) async throws(UpstreamError) -> Void)?
        /// Bytes that the uploader has received.
        var received = 0
        /// Runs after each part of a body that is uploaded.
        var onPart: (@Sendable () async -> Void)?
        /// How often a request yields to others, before it arrives and before its response does.
        var detours = 0
        var bodyParts: (@Sendable (_ path: String, _ bytes: [UInt8]) -> ByteStream)?
    }

    let state = Mutex(State())

    var requests: [OutgoingRequest] { state.withLock { $0.requests } }

    /// Methods, paths and queries of the requests, without the origin.
    var asked: [String] {
        requests.map {
            let url = $0.url.replacing("https://disk.test/v1/disk", with: "").replacing("https://", with: "")
            return "\($0.method.rawValue) \(url)"
        }
    }

    func change<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        try state.withLock { (state: inout sending State) in try body(&state) }
    }

    func put(_ path: String, _ text: String = "text", mediaType: String? = "document", mimeType: String? = "text/plain")
    {
        put(path, bytes: Array(text.utf8), mediaType: mediaType, mimeType: mimeType)
    }

    func put(
        _ path: String,
        bytes: [UInt8],
        mediaType: String? = "document",
        mimeType: String? = "text/plain",
        size: Int? = nil
    ) {
        state.withLock { state in
            state.uploads += 1
            state.nodes[path] = Node(
                isFolder: false,
                bytes: bytes,
                size: size,
                mediaType: mediaType,
                mimeType: mimeType,
                uploaded: state.uploads
            )
        }
    }

    func makeFolder(_ path: String) {
        state.withLock { $0.nodes[path] = Node(isFolder: true) }
    }

    func intercept(_ interception: Interception?) {
        state.withLock { $0.intercept = interception }
    }

    /// Makes it unreachable from now on.
    func goAway(_ reason: UnreachableReason = .refused) {
        intercept { (_) throws(UpstreamError) in throw .unreachable(reason) }
    }

    /// Responds with a status to everything from now on, errors in the API's own form.
    func respond(_ status: Int, headerFields: HTTPFields = [:]) {
        let codes = [401: "UnauthorizedError", 403: "ForbiddenError", 404: "DiskNotFoundError", 410: "GoneError"]
        let body =
            status < 400 ? "{}" : #"{"error":"\#(codes[status] ?? "SomeError")","description":"d","message":"m"}"#
        intercept { (_) in .json(body, status: .init(code: status), headerFields: headerFields) }
    }

    /// Responds with a page to everything from now on, as a captive portal does.
    func respondPage(_ status: Int) {
        intercept { (_) in .page(status) }
    }

    /// Runs a closure before responses arrive.
    func onTheWay(_ body: @escaping @Sendable (OutgoingRequest) async throws -> Void) {
        state.withLock { $0.onTheWay = body }
    }

    /// Carries out a request as if it had arrived. For interceptions whose response gets lost.
    @discardableResult
    func carryOut(_ request: OutgoingRequest) -> IncomingResponse {
        state.withLock { Self.response(to: request, &$0) }
    }

    private func detour() async {
        for _ in 0..<state.withLock({ $0.detours }) { await Task.yield() }
    }

    func exchange(_ request: OutgoingRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> IncomingResponse
    {
        await detour()
        let response = try response(to: request)
        try await travel(request)
        await detour()
        return response
    }

    private func travel(_ request: OutgoingRequest) async throws(UpstreamError) {
        do {
            try await state.withLock { $0.onTheWay }?(request)
        } catch {
            throw .badResponse(status: nil, reason: "the test failed: \(error)")
        }
    }

    func stream(_ request: StreamedRequest, within limits: TransportLimits) async throws(UpstreamError)
        -> StreamedResponse
    {
        var body: [UInt8]?
        if let parts = request.body {
            var bytes: [UInt8] = []
            do {
                for try await part in parts {
                    bytes += part.readableBytesView
                    await state.withLock { $0.onPart }?()
                }
            } catch {
                throw .badResponse(status: nil, reason: UpstreamError.requestCutShort)
            }
            if let length = request.bodyLength, length != bytes.count {
                throw .badResponse(status: nil, reason: UpstreamError.requestCutShort)
            }
            body = bytes
        }
        await detour()
        let whole = OutgoingRequest(
            method: request.method,
            url: request.url,
            headerFields: request.headerFields,
            body: body
        )
        if let body, request.url.hasPrefix("https://uploader.test") {
            let processing = state.withLock { state in
                state.received += body.count
                return state.processing
            }
            try await processing?(whole)
        }
        let response = try response(to: whole)
        try await travel(whole)
        await detour()
        let parts = state.withLock { $0.bodyParts }
        let stream = response.status.code < 300 ? parts?(request.url, response.body) : nil
        return StreamedResponse(
            status: response.status,
            headerFields: response.headerFields,
            body: stream ?? ByteStream(ByteBuffer(bytes: response.body))
        )
    }

    private func response(to request: OutgoingRequest) throws(UpstreamError) -> IncomingResponse {
        let interception = state.withLock { state in
            state.requests.append(request)
            return state.intercept
        }
        if let response = try interception?(request) { return response }
        return state.withLock { Self.response(to: request, &$0) }
    }
}

extension FakeYandexDisk {
    private static func response(to request: OutgoingRequest, _ state: inout State) -> IncomingResponse {
        guard let components = URLComponents(string: request.url) else { return refusal(400, "FieldValidationError") }
        let query = Dictionary(
            (components.percentEncodedQuery ?? "").split(separator: "&").map { item in
                let parts = item.split(separator: "=", maxSplits: 1)
                return (
                    String(parts[0]),
                    (parts.count > 1 ? String(parts[1]).replacing("+", with: " ").removingPercentEncoding : nil) ?? ""
                )
            }
        ) { first, _ in first }
        if components.host == "downloader.test" { return content(components, query, request, state) }
        if components.host == "uploader.test" {
            state.uploads += 1
            let path = query["path"] ?? ""
            state.nodes[path] = Node(
                isFolder: false,
                bytes: request.body ?? [],
                mediaType: "document",
                mimeType: "text/plain",
                uploaded: state.uploads
            )
            if let operation = query["operation"] { state.operations[operation] = (0, "success") }
            return IncomingResponse(status: .created)
        }
        let token = (request.headerFields[.authorization] ?? "").replacing("OAuth ", with: "")
        guard let uid = state.tokens[token] else { return refusal(401, "UnauthorizedError") }
        let path = String(components.path.dropFirst("/v1/disk".count))
        switch (request.method, path) {
        case (.get, ""):
            return .json(
                #"{"total_space":\#(state.total),"used_space":\#(state.used),"trash_size":1048576,"#
                    + #""user":{"uid":"\#(uid)","login":"login-\#(uid)"}}"#
            )
        case (.get, "/resources"), (.get, "/trash/resources"): return resource(query, state)
        case (.get, "/resources/last-uploaded"):
            let files = state.nodes.filter { path, node in !node.isFolder && path.hasPrefix("disk:") }.sorted {
                $0.value.uploaded > $1.value.uploaded
            }
            return flat(files.prefix(Int(query["limit"] ?? "") ?? 20))
        case (.get, "/resources/files"):
            let files = state.nodes.filter { path, node in !node.isFolder && path.hasPrefix("disk:") }.sorted {
                $0.key < $1.key
            }
            return flat(files.dropFirst(Int(query["offset"] ?? "") ?? 0).prefix(Int(query["limit"] ?? "") ?? 20))
        case (.get, "/resources/public"):
            let files = state.nodes.filter { _, node in
                node.publicURL != nil && (query["type"].map { $0 == "dir" } ?? node.isFolder) == node.isFolder
            }.sorted {
                $0.key < $1.key
            }
            return flat(files.dropFirst(Int(query["offset"] ?? "") ?? 0).prefix(Int(query["limit"] ?? "") ?? 20))
        case (.get, "/resources/download"):
            guard state.nodes[query["path"] ?? ""] != nil else { return refusal(404, "DiskNotFoundError") }
            return link("https://downloader.test/file?path=\(encoded(query["path"] ?? ""))&secret=signature")
        case (.get, "/resources/upload"):
            let target = query["path"] ?? ""
            if state.nodes[target] != nil, query["overwrite"] != "true" {
                return refusal(409, "DiskResourceAlreadyExistsError")
            }
            guard state.nodes[parent(of: target)] != nil else { return refusal(409, "DiskPathDoesntExistsError") }
            let href = "https://uploader.test/put?path=\(encoded(target))&secret=signature"
            guard state.namesUploads else { return link(href) }
            let operation = "upload\(state.operations.count)"
            state.operations[operation] = (.max, "success")
            return .json(#"{"operation_id":"\#(operation)","href":"\#(href)&operation=\#(operation)","method":"PUT"}"#)
        case (.get, _) where path.hasPrefix("/operations/"):
            let id = String(path.dropFirst("/operations/".count))
            guard let (left, end) = state.operations[id] else { return refusal(404, "DiskOperationNotFoundError") }
            state.operations[id] = (left - 1, end)
            return .json(#"{"status":"\#(left > 0 ? "in-progress" : end)"}"#)
        case (.get, "/public/resources/public-settings"), (.patch, "/public/resources/public-settings"):
            return publicSettings(request, query["path"] ?? "", &state)
        default: return write(request.method, path, query, &state)
        }
    }

    private static func publicSettings(_ request: OutgoingRequest, _ path: String, _ state: inout State)
        -> IncomingResponse
    {
        guard state.nodes[path]?.publicURL != nil else { return refusal(404, "DiskNotFoundError") }
        guard let body = request.body else {
            return .json(#"{"available_until":\#(state.nodes[path]?.linkEnd.map(String.init) ?? "null")}"#)
        }
        guard state.hasLinkEnds else { return refusal(403, "ForbiddenError") }
        let text = String(decoding: body, as: UTF8.self)
        state.nodes[path]?.linkEnd = Int(text.dropFirst(#"{"available_until":"#.count).dropLast())
        return IncomingResponse(status: .ok)
    }

    private static func write(
        _ method: HTTPRequest.Method,
        _ call: String,
        _ query: [String: String],
        _ state: inout State
    ) -> IncomingResponse {
        let path = query["path"] ?? ""
        switch (method, call) {
        case (.put, "/resources"):
            guard state.nodes[path] == nil else { return refusal(409, "DiskPathPointsToExistentDirectoryError") }
            guard state.nodes[parent(of: path)] != nil else { return refusal(409, "DiskPathDoesntExistsError") }
            state.nodes[path] = Node(isFolder: true)
            return link("https://disk.test/v1/disk/resources", status: .created)
        case (.put, "/resources/publish"), (.put, "/resources/unpublish"):
            guard state.nodes[path] != nil else { return refusal(404, "DiskNotFoundError") }
            state.nodes[path]?.publicURL = call.hasSuffix("/publish") ? "https://yadi.sk/d/\(encoded(path))" : nil
            state.nodes[path]?.linkEnd = nil
            return link("https://disk.test/v1/disk/resources")
        case (.delete, "/resources"):
            guard let node = state.nodes[path] else { return refusal(404, "DiskNotFoundError") }
            if let md5 = query["md5"], md5 != Self.md5(node.bytes) { return refusal(409, "MD5DifferError") }
            for key in state.nodes.keys where key == path || key.hasPrefix(path + "/") { state.nodes[key] = nil }
            if query["permanently"] != "true" {
                var gone = node
                gone.origin = path
                state.nodes["trash:/\(name(of: path))_0123456789012345678901234567890123456789"] = gone
            }
            return finished(.noContent, &state)
        case (.post, "/resources/move"), (.post, "/resources/copy"):
            let from = query["from"] ?? ""
            guard state.nodes[from] != nil else { return refusal(404, "DiskNotFoundError") }
            if state.nodes[path] != nil, query["overwrite"] != "true" {
                return refusal(409, "DiskResourceAlreadyExistsError")
            }
            guard state.nodes[parent(of: path)] != nil else { return refusal(409, "DiskPathDoesntExistsError") }
            for (key, node) in state.nodes where key == from || key.hasPrefix(from + "/") {
                state.nodes[path + key.dropFirst(from.count)] = node
                if call == "/resources/move" { state.nodes[key] = nil }
            }
            return finished(.created, &state)
        case (.put, "/trash/resources/restore"):
            guard let node = state.nodes[path], let origin = node.origin else {
                return refusal(404, "DiskNotFoundError")
            }
            state.nodes[path] = nil
            state.nodes[query["name"].map { "\(parent(of: origin))/\($0)".replacing("//", with: "/") } ?? origin] = node
            return link("https://disk.test/v1/disk/resources", status: .created)
        default: return refusal(405, "MethodNotAllowedError")
        }
    }

    private static func finished(_ status: HTTPResponse.Status, _ state: inout State) -> IncomingResponse {
        guard let polls = state.pollsOfWrites else {
            return status == .noContent ? IncomingResponse(status: status) : link("https://disk.test/x", status: status)
        }
        let id = "op\(state.operations.count)"
        state.operations[id] = (polls, state.operationEnd)
        return link("https://disk.test/v1/disk/operations/\(id)", status: .accepted)
    }

    private static func resource(_ query: [String: String], _ state: State) -> IncomingResponse {
        let path = query["path"] ?? ""
        guard let node = state.nodes[path] else { return refusal(404, "DiskNotFoundError") }
        var text = json(path, node)
        if node.isFolder {
            let prefix = path.hasSuffix("/") ? path : path + "/"
            var children = state.nodes.filter {
                $0.key.hasPrefix(prefix) && $0.key != prefix && !$0.key.dropFirst(prefix.count).contains("/")
            }.sorted {
                $0.key < $1.key
            }
            if query["sort"]?.hasPrefix("-") == true { children.reverse() }
            let total = children.count
            let shown = children.dropFirst(Int(query["offset"] ?? "") ?? 0).prefix(Int(query["limit"] ?? "") ?? 20)
            text =
                String(text.dropLast())
                + #","_embedded":{"items":[\#(shown.map { json($0.key, $0.value) }.joined(separator: ","))],"#
                + #""total":\#(total)}}"#
        }
        return .json(text)
    }

    private static func flat(_ nodes: some Sequence<(key: String, value: Node)>) -> IncomingResponse {
        .json(#"{"items":[\#(nodes.map { json($0.key, $0.value) }.joined(separator: ","))],"limit":20}"#)
    }

    /// Returns a resource with the links that the real one sends, whatever `fields` says.
    private static func json(_ path: String, _ node: Node) -> String {
        var members = [
            #""path":\#(quoted(path))"#, #""name":\#(quoted(name(of: path)))"#,
            #""type":"\#(node.isFolder ? "dir" : "file")""#,
            #""created":"\#(node.created)","modified":"\#(node.modified)""#,
        ]
        if !node.isFolder {
            members.append(#""size":\#(node.size ?? node.bytes.count),"md5":"\#(md5(node.bytes))""#)
            members.append(#""file":"https://downloader.test/file?path=\#(encoded(path))&secret=signature""#)
            if node.mediaType == "image" {
                members.append(#""preview":"https://downloader.test/preview?path=\#(encoded(path))&secret=signature""#)
            }
        }
        if let type = node.mediaType { members.append(#""media_type":"\#(type)""#) }
        if let type = node.mimeType { members.append(#""mime_type":"\#(type)""#) }
        if let url = node.publicURL { members.append(#""public_key":"key","public_url":"\#(url)""#) }
        if let origin = node.origin {
            members.append(#""origin_path":\#(quoted(origin)),"deleted":"2025-06-16T12:53:09+00:00""#)
        }
        return "{\(members.joined(separator: ","))}"
    }

    private static func content(
        _ components: URLComponents,
        _ query: [String: String],
        _ request: OutgoingRequest,
        _ state: State
    ) -> IncomingResponse {
        guard let node = state.nodes[query["path"] ?? ""], query["secret"] == "signature" else {
            return IncomingResponse(status: .notFound)
        }
        if components.path == "/preview" {
            return IncomingResponse(status: .ok, headerFields: [.contentType: "image/png"], body: FakeYandexDisk.png)
        }
        let tag = "\"\(md5(node.bytes))\""
        guard request.headerFields[.ifRange].map({ $0 == tag }) ?? true,
            let range = request.headerFields[.range]?.dropFirst("bytes=".count).split(separator: "-"),
            let first = Int(range[0]), let last = Int(range[1])
        else {
            return IncomingResponse(
                status: .ok,
                headerFields: [.contentLength: "\(node.bytes.count)", .eTag: tag],
                body: node.bytes
            )
        }
        return IncomingResponse(
            status: .partialContent,
            headerFields: [.contentRange: "bytes \(first)-\(last)/\(node.bytes.count)", .eTag: tag],
            body: Array(node.bytes[first...last])
        )
    }

    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3, 4]

    static func md5(_ bytes: [UInt8]) -> String {
        Insecure.MD5.hash(data: bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    static func refusal(_ status: Int, _ code: String) -> IncomingResponse {
        .json(#"{"error":"\#(code)","description":"d","message":"m"}"#, status: .init(code: status))
    }

    private static func link(_ href: String, status: HTTPResponse.Status = .ok) -> IncomingResponse {
        .json(#"{"href":"\#(href)","method":"GET","templated":false}"#, status: status)
    }

    private static func parent(of path: String) -> String {
        let before = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
        return before.hasSuffix(":") ? before + "/" : String(before)
    }

    private static func name(of path: String) -> String {
        String(path[path.index(after: path.lastIndex(of: "/") ?? path.startIndex)...])
    }
    private static func quoted(_ text: String) -> String {
        (try? JSONEncoder().encode(text)).map { String(decoding: $0, as: UTF8.self) } ?? "\"\""
    }
    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
