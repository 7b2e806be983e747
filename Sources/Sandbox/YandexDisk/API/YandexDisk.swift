import Foundation
import HTTPTypes
import Synchronization

/// The Yandex Disk REST API v1 (`https://cloud-api.yandex.net/v1/disk`), with made files. Its behaviour is taken from
/// recordings and documentation; comments mark behaviour that neither describes.
final class YandexDisk: SimulatedUpstream {
    let name = SandboxUpstream.yandexDisk.rawValue
    let accounts: YandexAccounts
    private let seed: UInt64
    /// Made at the first use, because most runs of the sandbox do not use the disk.
    private let model = Mutex<DiskModel?>(nil)

    /// - Parameter accounts: The accounts with their tokens and the service's clock.
    init(seed: UInt64, accounts: YandexAccounts) {
        self.seed = seed
        self.accounts = accounts
    }

    /// The API and its other hosts, with the same data.
    static func upstreams(seed: UInt64, now: @escaping @Sendable () -> Date) -> [any SimulatedUpstream] {
        let accounts = YandexAccounts(seed: seed, clock: now)
        let disk = YandexDisk(seed: seed, accounts: accounts)
        return [disk, YandexOAuth(accounts: accounts), YandexDownloader(disk: disk), YandexUploader(disk: disk)]
    }

    func reset() {
        model.withLock { $0 = nil }
        accounts.reset()
    }

    /// The data of the service as a value.
    struct Saved: Codable, Sendable {
        /// Nil before the first use.
        let files: DiskModel?
        let accounts: YandexAccounts.State
    }

    func save() -> any Sendable {
        Saved(files: model.withLock { $0 }, accounts: accounts.withState { state, _ in state })
    }

    func restore(_ saved: any Sendable) {
        guard let saved = saved as? Saved else { return }
        model.withLock { $0 = saved.files }
        accounts.withState { state, _ in state = saved.accounts }
    }

    /// Runs work on the data exclusively, with the service's time.
    func withModel<Result: Sendable, Failure: Error>(
        _ body: (inout DiskModel, Date) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try model.withLock { stored throws(Failure) in
            // The stored model is removed meanwhile, so that only one copy exists.
            var model = stored ?? DiskSeed.model(seed: seed)
            stored = nil
            defer { stored = model }
            let now = accounts.now
            model.endDueOperations(at: now)
            return try body(&model, now)
        }
    }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        do throws(DiskFailure) {
            return try withModel { (model, now) throws(DiskFailure) in
                let call = DiskRequest(request, now: now)
                let handler = try YandexDisk.route(call.method, call.path)
                var account: Int?
                switch accounts.access(request.headers[.authorization], at: now) {
                case .granted(let login, let rights):
                    account = model.account(login: login)
                    guard Self.allows(call, rights) else { throw .forbidden }
                    // The folder of the application is made at the first request, as documented.
                    if let account, call.pathTexts.contains(where: { $0.hasPrefix(DiskPath.appScheme) }) {
                        _ = model.folder(DiskPath.appFolder, account, at: now)
                    }
                // Public resources need no token, but a wrong one is refused there as well.
                case .none: if !handler.isPublic { throw .unauthorized }
                case .refused: throw .unauthorized
                }
                try model.meetPlanned("\(call.method.rawValue) /\(call.path.joined(separator: "/"))")
                switch handler {
                case .account(let handle):
                    guard let account else { throw .unauthorized }
                    return try handle(&model, call, account)
                case .anyone(let handle): return try handle(&model, call)
                }
            }
        } catch {
            return error.response
        }
    }

    func refusal(_ status: HTTPResponse.Status) -> UpstreamResponse? {
        guard status.kind == .clientError else { return nil }
        return DiskFailure.refusal(status).response
    }

    enum Handler {
        case account((inout DiskModel, DiskRequest, Int) throws(DiskFailure) -> UpstreamResponse)
        case anyone((inout DiskModel, DiskRequest) throws(DiskFailure) -> UpstreamResponse)

        var isPublic: Bool { if case .anyone = self { true } else { false } }
    }

    private static func allows(_ call: DiskRequest, _ rights: Set<YandexAccounts.Right>) -> Bool {
        let namesFolder = call.pathTexts.contains { $0.hasPrefix(DiskPath.appScheme) }
        guard rights.contains(.appFolder) else { return rights.contains(right(call)) && !namesFolder }
        if rights.contains(right(call)) { return true }
        let opensPaths = call.path.first == "resources" || call.path == ["public", "resources", "public-settings"]
        let isInFolder = call.pathTexts.allSatisfy { $0.hasPrefix(DiskPath.appScheme) }
        // Reading the status of an operation needs no right.
        return call.path.first == "operations" || opensPaths && isInFolder && !call.pathTexts.isEmpty
    }

    /// The right that a call needs. A call to the folder of an application needs only the right to that folder.
    private static func right(_ call: DiskRequest) -> YandexAccounts.Right {
        if call.path.isEmpty { return .info }
        return call.method == .get && call.path != ["resources", "upload"] ? .read : .write
    }

    private static func route(_ method: HTTPRequest.Method, _ path: [String]) throws(DiskFailure) -> Handler {
        if path.count == 2, path[0] == "operations", method == .get {
            return .account { (m, r, a) throws(DiskFailure) in try m.operation(r, a) }
        }
        guard let handlers = routes[path.joined(separator: "/")] else { throw .noRoute }
        guard let handler = handlers.first(where: { $0.method == method }) else { throw .method }
        return handler.handler
    }

    private static var routes: [String: [(method: HTTPRequest.Method, handler: Handler)]] {
        [
            "": [(.get, .account { (m, r, a) throws(DiskFailure) in m.info(r, a) })],
            "resources": [
                (.get, .account { (m, r, a) throws(DiskFailure) in try m.resource(r, a, in: .disk) }),
                (.put, .account { (m, r, a) throws(DiskFailure) in try m.makeDirectory(r, a) }),
                (.delete, .account { (m, r, a) throws(DiskFailure) in try m.delete(r, a) }),
                (.patch, .account { (m, r, a) throws(DiskFailure) in try m.patch(r, a) }),
            ],
            "resources/files": [(.get, .account { (m, r, a) throws(DiskFailure) in try m.files(r, a) })],
            "resources/last-uploaded": [(.get, .account { (m, r, a) throws(DiskFailure) in try m.lastUploaded(r, a) })],
            "resources/public": [(.get, .account { (m, r, a) throws(DiskFailure) in try m.published(r, a) })],
            "resources/publish": [(.put, .account { (m, r, a) throws(DiskFailure) in try m.publish(r, a) })],
            "resources/unpublish": [(.put, .account { (m, r, a) throws(DiskFailure) in try m.unpublish(r, a) })],
            "resources/download": [(.get, .account { (m, r, a) throws(DiskFailure) in try m.download(r, a) })],
            "resources/upload": [
                (.get, .account { (m, r, a) throws(DiskFailure) in try m.upload(r, a) }),
                (.post, .account { (m, r, a) throws(DiskFailure) in try m.uploadFromURL(r, a) }),
            ],
            "resources/copy": [(.post, .account { (m, r, a) throws(DiskFailure) in try m.copy(r, a) })],
            "resources/move": [(.post, .account { (m, r, a) throws(DiskFailure) in try m.move(r, a) })],
            "trash/resources": [
                (.get, .account { (m, r, a) throws(DiskFailure) in try m.resource(r, a, in: .trash) }),
                (.delete, .account { (m, r, a) throws(DiskFailure) in try m.deleteFromTrash(r, a) }),
            ],
            "trash/resources/restore": [(.put, .account { (m, r, a) throws(DiskFailure) in try m.restore(r, a) })],
            "public/resources": [(.get, .anyone { (m, r) throws(DiskFailure) in try m.publicResource(r) })],
            "public/resources/download": [(.get, .anyone { (m, r) throws(DiskFailure) in try m.publicDownload(r) })],
            "public/resources/save-to-disk": [
                (.post, .account { (m, r, a) throws(DiskFailure) in try m.saveToDisk(r, a) })
            ],
            "public/resources/public-settings": [
                (.get, .account { (m, r, a) throws(DiskFailure) in try m.publicSettings(r, a) }),
                (.patch, .account { (m, r, a) throws(DiskFailure) in try m.changePublicSettings(r, a) }),
            ],
        ]
    }
}

extension DiskModel {
    /// Throws the error that a test has set for a call.
    fileprivate mutating func meetPlanned(_ call: String) throws(DiskFailure) {
        guard let index = planned.firstIndex(where: { $0.call == call && $0.times > 0 }) else { return }
        planned[index].times -= 1
        throw planned[index].failure
    }
}
