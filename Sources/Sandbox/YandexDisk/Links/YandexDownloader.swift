import Foundation
import HTTPTypes

/// The host of signed links: content and previews of files. A link is sufficient to get the file; a token is neither
/// required nor checked, except for previews if the control API says so.
final class YandexDownloader: SimulatedUpstream {
    let name = SandboxUpstream.yandexDownloader.rawValue
    private let disk: YandexDisk

    init(disk: YandexDisk) { self.disk = disk }

    func reset() {}

    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        throw .notFound("The links are controlled below /_sandbox/yandex_disk; GET /_sandbox lists how.")
    }

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        guard request.method == .get || request.method == .head else { return Self.page(405, "Not Allowed") }
        guard request.path.count == 4, let id = DiskLinks.node(of: request.path[1]) else {
            return Self.page(404, "Not Found")
        }
        let rest = Array(request.path.dropFirst(2))
        return disk.withModel { model, now in
            // The response does not tell an expired link from a changed or an invented one.
            let stale = Self.page(model.links.settings.staleStatus, "Internal Server Error")
            guard let node = model.trees.lazy.compactMap({ $0.nodes[id] }).first, let content = node.content else {
                return stale
            }
            switch request.path[0] {
            case "disk" where model.links.settings.redirects && model.links.holds(rest, for: node, now: now):
                return Self.redirect(request, links: model.links)
            case "disk", "rdisk":
                guard model.links.holds(rest, for: node, now: now) else { return stale }
                return Self.file(node, content, request)
            case "preview":
                guard model.links.holdsPreview(rest, for: node), let subject = content.preview else { return stale }
                if model.links.settings.previewsNeedToken {
                    guard case .granted = disk.accounts.access(request.headers[.authorization], at: now) else {
                        return Self.page(401, "Unauthorized")
                    }
                }
                return Self.preview(of: subject, request)
            default: return Self.page(404, "Not Found")
            }
        }
    }

    private static func file(_ node: DiskNode, _ content: DiskContent, _ request: UpstreamRequest) -> UpstreamResponse {
        let name = FormEncoding.encoded(node.displayName).replacing("+", with: "%20")
        var response = UpstreamResponse(
            status: .ok,
            headers: [
                .contentType: node.type.mime ?? "application/octet-stream",
                .contentDisposition: "attachment; filename*=UTF-8''\(name)",
                .eTag: "\"\(content.md5)\"",
                .acceptRanges: "bytes",
            ]
        )
        if let condition = request.headers[.ifNoneMatch], EntityTag.matches(condition, tag: "\"\(content.md5)\"") {
            response.status = .notModified
            return response
        }
        let range = request.headers[.ifRange].map { $0 == "\"\(content.md5)\"" } ?? true ? request.headers[.range] : nil
        switch RequestedRange(range, of: content.size) {
        case .whole: response.stream = StreamedBody(source: content.source, range: 0..<content.size)
        case .part(let part):
            response.status = .partialContent
            response.headers[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(content.size)"
            response.stream = StreamedBody(source: content.source, range: part)
        case .unsatisfiable:
            response.status = .rangeNotSatisfiable
            response.headers[.contentRange] = "bytes */\(content.size)"
        }
        return response
    }

    private static func preview(of subject: DiskPreview.Subject, _ request: UpstreamRequest) -> UpstreamResponse {
        let form = request.form.values
        // Without a size the preview has that of the original.
        guard let size = DiskPreview.Size(form["size"] ?? "XXXL") else { return page(400, "Bad Request") }
        let bytes = DiskPreview.jpeg(of: subject, size: size, crop: form["crop"] == "1")
        return UpstreamResponse(status: .ok, headers: [.contentType: "image/jpeg"], body: bytes).conditional(
            on: request
        )
    }

    /// The same link on the host that has the bytes.
    private static func redirect(_ request: UpstreamRequest, links: DiskLinks) -> UpstreamResponse {
        let path = request.path.dropFirst().map { FormEncoding.encoded($0).replacing("+", with: "%20") }.joined(
            separator: "/"
        )
        let query = request.form.map { "\(FormEncoding.encoded($0.name))=\(FormEncoding.encoded($0.value))" }.joined(
            separator: "&"
        )
        var response = page(302, "Found")
        response.headers[.location] = "\(links.origin(request.origin))/yandex_downloader/rdisk/\(path)?\(query)"
        return response
    }

    /// The recorded page, whose text says 500 whatever the status.
    private static func page(_ status: Int, _ reason: String) -> UpstreamResponse {
        let title = status == 410 ? "500 Internal Server Error" : "\(status) \(reason)"
        let text =
            "<html>\r\n<head><title>\(title)</title></head>\r\n<body>\r\n<center><h1>\(title)</h1></center>\r\n"
            + "<hr><center>nginx/1.18.0</center>\r\n"
            + "</body>\r\n</html>\r\n"
        return UpstreamResponse(
            status: .init(code: status),
            headers: [.contentType: "text/html"],
            body: Array(text.utf8)
        )
    }
}

/// The host that accepts uploads: `PUT` of raw bytes to a link, 201.
final class YandexUploader: SimulatedUpstream {
    let name = SandboxUpstream.yandexUploader.rawValue
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
        // Documented for parts of a file that do not fit. Parts are never accepted here.
        guard request.headers[.contentRange] == nil else { return .text(.preconditionFailed, "Precondition Failed") }
        let body = request.received ?? ReceivedBody(request.body)
        return disk.withModel { model, now in model.receive(body, target: request.path[1], now: now) }
    }
}
