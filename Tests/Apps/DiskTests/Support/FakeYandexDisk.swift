import Foundation
import HTTP
import HTTPTypes
import JSONValues
import NIOCore
import Synchronization
import TestKit

@testable import Concurrency
@testable import Sandbox
@testable import Upstream

/// The sandbox's Yandex Disk with the files of a test, as a transport: nothing leaves the process. The clock of the
/// service does not advance; requests are recorded, and hooks of a test come before them, during them and after them.
final class FakeYandexDisk: Transport {
    /// Handles a request before the Disk does.
    typealias Interception = @Sendable (OutgoingRequest) throws(UpstreamError) -> IncomingResponse?

    struct State {
        fileprivate var model: DiskModel
        var tokens: [String: String] = ["good": "1130"]
        /// Those of all tokens; nil for all rights.
        var rights: Set<String>?
        /// Polls until an operation ends; nil: writes are done at once.
        var pollsOfWrites: Int? {
            didSet {
                model.operations.rules.calls = pollsOfWrites == nil ? [] : [.delete, .move, .copy]
                model.operations.rules.polls = pollsOfWrites ?? 1
            }
        }
        var failsOperations: Bool {
            get { model.operations.rules.fails }
            set { model.operations.rules.fails = newValue }
        }
        var requests: [OutgoingRequest] = []
        var intercept: Interception?
        var onResponse: (@Sendable (OutgoingRequest, IncomingResponse) -> IncomingResponse)?
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

    /// 22 April 2024, 08:00:00 UTC.
    fileprivate static let now = Date(timeIntervalSince1970: 1_713_772_800)
    /// 21 April 2024, 10:57:13 UTC.
    fileprivate static let created = Date(timeIntervalSince1970: 1_713_697_033)

    private let accounts = YandexAccounts(seed: 1) { FakeYandexDisk.now }
    private let disk: YandexDisk
    private let hosts: [String: any SimulatedUpstream]
    private let state: Mutex<State>

    init() {
        var tree = DiskTree(account: Self.account("1130"), number: 1, totalSpace: 10_737_418_240, at: Self.now)
        tree.usedElsewhere = 3_511_500_000
        disk = YandexDisk(seed: 1, accounts: accounts)
        hosts = [
            "disk.test": disk, "downloader.test": YandexDownloader(disk: disk),
            "uploader.test": YandexUploader(disk: disk),
        ]
        state = Mutex(State(model: DiskModel(trees: [tree], links: DiskLinks(seed: 1))))
        change { $0.model.operations.rules.folders = false }
    }

    /// A Disk with these text files.
    convenience init(_ paths: String...) {
        self.init()
        for path in paths { put(path) }
    }

    /// A Disk with files of these texts.
    convenience init(_ files: KeyValuePairs<String, String>) {
        self.init()
        for (path, text) in files { put(path, text) }
    }

    private static func account(_ uid: String) -> DiskAccount {
        DiskAccount(
            login: "login-\(uid)",
            displayName: "login-\(uid)",
            uid: uid,
            country: "ru",
            isPaid: true,
            registered: now
        )
    }

    var requests: [OutgoingRequest] { state.withLock { $0.requests } }

    /// Methods, paths and queries of the requests, without the origin.
    var asked: [String] {
        requests.map {
            let url = $0.url.replacing("https://disk.test/v1/disk", with: "").replacing("https://", with: "")
            return "\($0.method.rawValue) \(url)"
        }
    }

    /// Reads or changes the Disk and the hooks, while no request is carried out.
    func change<Value>(_ body: (inout State) throws -> Value) rethrows -> Value {
        try state.withLock { (state: inout sending State) in try body(&state) }
    }

    func put(
        _ path: String,
        _ text: String = "text",
        mediaType: String = "document",
        mimeType: String? = "text/plain"
    ) {
        put(path, bytes: Array(text.utf8), mediaType: mediaType, mimeType: mimeType)
    }

    func put(
        _ path: String,
        bytes: [UInt8],
        mediaType: String = "document",
        mimeType: String? = "text/plain",
        size: Int? = nil
    ) {
        let preview = mediaType == "image" ? DiskPreview.Subject.sheet : nil
        let content =
            size.map { DiskContent(endless: EndlessBytes(count: $0), md5: Self.md5(bytes), sha256: "") }
            ?? DiskContent(ReceivedBody(bytes), preview: preview)
        let type = DiskFileType(mime: mimeType, media: mediaType)
        change { $0.put(path, Node(isFolder: false, bytes: bytes, content: content, type: type)) }
    }

    /// Another client renames or moves a file or folder.
    func move(_ from: String, to path: String) {
        carryOut(
            OutgoingRequest(
                method: .post,
                url: "https://disk.test/v1/disk/resources/move?from=\(from.q)&path=\(path.q)",
                headerFields: [.authorization: "OAuth good"]
            )
        )
    }

    func makeFolder(_ path: String) { change { $0.put(path, Node(isFolder: true)) } }

    func intercept(_ interception: Interception?) { state.withLock { $0.intercept = interception } }

    /// Changes responses of the Disk from now on.
    func onResponse(_ body: @escaping @Sendable (OutgoingRequest, IncomingResponse) -> IncomingResponse) {
        state.withLock { $0.onResponse = body }
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
    func respondPage(_ status: Int) { intercept { (_) in .page(status) } }

    /// Runs a closure before responses arrive.
    func onTheWay(_ body: @escaping @Sendable (OutgoingRequest) async throws -> Void) {
        state.withLock { $0.onTheWay = body }
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
        return carryOut(request)
    }

    /// Carries out a request as if it had arrived. For interceptions whose response gets lost.
    @discardableResult
    func carryOut(_ request: OutgoingRequest) -> IncomingResponse {
        guard let url = URLComponents(string: request.url), let host = url.host, let upstream = hosts[host] else {
            return Self.refusal(400, "FieldValidationError")
        }
        let target = RequestTarget("\(url.percentEncodedPath)?\(url.percentEncodedQuery ?? "")")
        var own = UpstreamRequest(
            method: request.method,
            path: target.segments,
            query: target.query,
            // All members are sent, links with their secrets among them, whatever the request selects.
            form: target.form.filter { $0.name != "fields" },
            headers: request.headerFields,
            origin: Self.origin
        )
        let body = request.body ?? []
        if upstream.takesLongBody(own) { own.received = ReceivedBody(body) } else { own.body = body }
        return state.withLock { state in
            // All accounts have the same files.
            let token = (request.headerFields[.authorization] ?? "").replacing("OAuth ", with: "")
            if let uid = state.tokens[token] { state.model.trees[0].account = Self.account(uid) }
            let rights = state.rights.map { Set($0.compactMap(YandexAccounts.Right.init)) }
            let tokens = state.tokens.mapValues {
                YandexAccounts.Token(login: "login-\($0)", expires: nil, rights: rights)
            }
            accounts.withState { state, _ in state.access = tokens }
            disk.restore(YandexDisk.Saved(files: state.model, accounts: accounts.withState { state, _ in state }))
            var response = upstream.respond(to: own)
            if !state.namesUploads, own.path.last == "upload", var link = try? JSONParser.parse(response.body).object {
                link["operation_id"] = nil
                response.body = JSONValue.object(link).serialized()
            }
            disk.withModel { model, _ in state.model = model }
            return state.onResponse?(request, Self.incoming(response)) ?? Self.incoming(response)
        }
    }

    private static let origin = "https://disk.test"

    /// The sandbox's prefixes are hosts here.
    private static func incoming(_ response: UpstreamResponse) -> IncomingResponse {
        var fields = response.headers
        guard let stream = response.stream else {
            let text = String(decoding: response.body, as: UTF8.self)
            guard text.contains(origin) else {
                return IncomingResponse(status: response.status, headerFields: fields, body: response.body)
            }
            let body = text.replacing("\(origin)/yandex_downloader/", with: "https://downloader.test/")
                .replacing("\(origin)/yandex_uploader/", with: "https://uploader.test/")
                .replacing("\(origin)/yandex_disk/", with: "\(origin)/")
            return IncomingResponse(status: response.status, headerFields: fields, body: Array(body.utf8))
        }
        fields[.contentLength] = "\(stream.range.count)"
        let bytes = (try? stream.source.bytes(in: stream.range)) ?? []
        return IncomingResponse(status: response.status, headerFields: fields, body: bytes)
    }

    static let png: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 1, 2, 3, 4]

    /// The preview of pictures that a test has put there.
    static func preview(_ size: String, crop: Bool) -> [UInt8] {
        DiskPreview.Size(size).map { DiskPreview.jpeg(of: .sheet, size: $0, crop: crop) } ?? []
    }

    static func md5(_ bytes: [UInt8]) -> String { ReceivedBody(bytes).md5 }

    static func refusal(_ status: Int, _ code: String) -> IncomingResponse {
        .json(#"{"error":"\#(code)","description":"d","message":"m"}"#, status: .init(code: status))
    }

    static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}

extension FakeYandexDisk {
    /// A file or folder as tests read and change it.
    struct Node: Equatable {
        var isFolder: Bool
        var bytes: [UInt8] = []
        fileprivate var content: DiskContent?
        fileprivate var type: DiskFileType?
        var publicURL: String?
        /// Seconds since 1970.
        var linkEnd: Int?
        /// The place that something in the trash was in.
        var origin: String?

        init(isFolder: Bool, bytes: [UInt8] = [], origin: String? = nil) {
            self.init(isFolder: isFolder, bytes: bytes, content: nil, type: nil)
            self.origin = origin
        }

        fileprivate init(isFolder: Bool, bytes: [UInt8], content: DiskContent?, type: DiskFileType?) {
            (self.isFolder, self.bytes, self.content, self.type) = (isFolder, bytes, content, type)
        }

        static func == (one: Node, other: Node) -> Bool {
            one.isFolder == other.isFolder && one.bytes == other.bytes && one.publicURL == other.publicURL
                && one.linkEnd == other.linkEnd && one.origin == other.origin
        }
    }
}

extension FakeYandexDisk.State {
    typealias Node = FakeYandexDisk.Node

    var total: Int {
        get { model.trees[0].totalSpace }
        set { model.trees[0].totalSpace = newValue }
    }

    /// Bytes that are used beside the files.
    var used: Int {
        get { model.trees[0].usedElsewhere }
        set { model.trees[0].usedElsewhere = newValue }
    }

    /// The files and folders by their paths, the roots left out.
    var nodes: [String: Node] {
        get {
            let tree = model.trees[0]
            let nodes = tree.nodes.values.filter { $0.parent != $0.id }
            return Dictionary(
                uniqueKeysWithValues: nodes.map { node in
                    let content = node.content
                    let isShort = content.map { $0.size < 1 << 24 } ?? false
                    let bytes = isShort ? try? content?.source.bytes(in: 0..<(content?.size ?? 0)) : nil
                    var shown = Node(
                        isFolder: node.isDirectory,
                        bytes: bytes ?? [],
                        content: content,
                        type: node.judgedType
                    )
                    shown.publicURL = node.publication?.url
                    shown.linkEnd = node.publication?.settings["available_until"]?.double.map { Int($0) }
                    shown.origin = node.trashed?.origin.description
                    return (tree.path(of: node).description, shown)
                }
            )
        }
        set {
            let before = nodes
            for path in before.keys where newValue[path] == nil { remove(path) }
            let changed = newValue.filter { before[$0.key] != $0.value }
            for (path, node) in changed.sorted(by: { $0.key < $1.key }) { put(path, node) }
        }
    }

    /// The names of the operations that have not ended.
    var operations: [String] { model.operations.all.filter { $0.value.outcome == nil }.keys.sorted() }

    /// Carries out the operations that are under way.
    mutating func endOperations() {
        for id in operations {
            while let status = try? model.poll(id, account: 0, now: FakeYandexDisk.now), status == "in-progress" {}
        }
    }

    /// Ends operations without carrying them out.
    mutating func settleOperations(_ outcome: String) {
        for id in operations { model.operations.settle(id, outcome) }
    }

    mutating func forgetOperations() { model.operations.forget() }

    /// Refuses a call of the API, such as `PUT /resources/publish`, from now on.
    mutating func refuse(_ call: String, _ code: String) {
        guard let failure = DiskFailure.named(code) else { return }
        model.planned.append(PlannedFailure(call: call, failure: failure, times: .max))
    }

    private mutating func remove(_ text: String) {
        guard let path = try? DiskPath(text, in: text.hasPrefix("trash") ? .trash : .disk),
            let node = model.trees[0].node(at: path)
        else { return }
        model.trees[0].remove(node.id, at: FakeYandexDisk.now)
    }

    fileprivate mutating func put(_ text: String, _ node: Node) {
        let now = FakeYandexDisk.now
        guard let path = try? DiskPath(text, in: text.hasPrefix("trash") ? .trash : .disk), path.name != nil else {
            return
        }
        if node.isFolder {
            if let file = model.trees[0].node(at: path), !file.isDirectory { remove(text) }
            _ = model.folder(path, 0, at: now)
        } else {
            let isKept = node.content.map { $0.size >= 1 << 24 || $0.md5 == FakeYandexDisk.md5(node.bytes) } ?? false
            let content = isKept ? node.content : DiskContent(ReceivedBody(node.bytes))
            if let content, content !== model.trees[0].node(at: path)?.content {
                model.store(content, at: path, account: 0, at: now)
            }
        }
        guard let made = model.trees[0].node(at: path) else { return }
        let revision = model.trees[0].revision + 1
        model.trees[0].update(made.id, at: now) { made in
            made.created = FakeYandexDisk.created
            made.judgedType = node.type ?? made.judgedType
            made.trashed = node.origin.flatMap { try? DiskPath($0) }.map {
                .init(name: $0.name ?? made.name, origin: $0, at: now)
            }
            if made.publication?.url != node.publicURL {
                made.publication = node.publicURL.map { .init(key: "key", url: $0, revision: revision) }
            }
            made.publication?.settings["available_until"] = node.linkEnd.map { .integer($0) }
        }
    }
}
