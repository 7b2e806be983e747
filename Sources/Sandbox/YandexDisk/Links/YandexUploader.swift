import HTTPTypes

/// The host that takes uploads: `PUT` of raw bytes to a link, 201.
final class YandexUploader: SimulatedUpstream {
    let name = SandboxUpstream.yandexUploader.rawValue
    let controls: [ControlIndex.Line] = []
    private let disk: YandexDisk

    init(disk: YandexDisk) { self.disk = disk }

    func reset() {}

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        throw .notFound("Uploads are controlled below /_sandbox/yandex_disk; GET /_sandbox lists how.")
    }

    func breakOff(_ request: UpstreamRequest) {
        guard request.method == .put, request.path.count == 2, request.path[0] == "upload-target" else { return }
        disk.withModel { model, _ in model.breakOff(target: request.path[1]) }
    }

    func takesLongBody(_ request: UpstreamRequest) -> Bool { request.method == .put }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        guard request.path.count == 2, request.path[0] == "upload-target" else { return .text(.notFound, "Not Found") }
        guard request.method == .put else { return .text(.methodNotAllowed, "Method Not Allowed") }
        // Documented for parts of a file that do not fit; here, parts are never accepted.
        guard request.headers[.contentRange] == nil else { return .text(.preconditionFailed, "Precondition Failed") }
        let body = request.received ?? ReceivedBody(request.body)
        return disk.withModel { model, now in model.receive(body, target: request.path[1], now: now) }
    }
}
