import Foundation
import HTTPTypes
import Screens
import Upstream

/// Sends one write to the upstream, once, and says what the response means.
struct WriteSender: Sendable {
    /// What came of sending.
    enum Outcome: Sendable {
        /// The upstream said that it is done.
        case done(UploadedBytes.Summary?)
        /// The upstream took it and goes on; the identity of its operation.
        case underWay(String)
        /// No usable response, and it may have been carried out.
        case unknown(UpstreamError, UploadedBytes.Summary?)
    }

    let service: DiskService
    let write: DiskWrite
    let account: DiskAccount
    /// Checksum that a file to be deleted must have.
    let guardedMD5: String?

    /// - Throws: `Problem` and others if nothing was changed: it was refused, or could not be sent.
    func send() async throws -> Outcome {
        if case .upload(let body, let length, let overwrite) = write.kind {
            return try await upload(body, length: length, overwrite: overwrite)
        }
        return try await service.changing(write.path, account) {
            do {
                switch try await service.authorized(account.id, call) {
                case .done: return .done(nil)
                case .underWay(let operation): return .underWay(operation)
                }
            } catch let error as UpstreamError where error.leavesOutcomeUnknown {
                return .unknown(error, nil)
            }
        }
    }

    private func call(_ token: String) async throws -> WriteOutcome {
        let (api, path, keeps) = (service.api, write.path, write.conditions.forbidReplacing)
        switch write.kind {
        case .upload: return .done
        case .makeFolder: return try await api.makeFolder(path, token)
        case .delete(let permanently):
            return try await api.delete(path, permanently: permanently, md5: guardedMD5, token)
        case .move(let target, let overwrite):
            return try await api.transfer("move", from: path, to: target, overwrite: overwrite && !keeps, token)
        case .copy(let target, let overwrite):
            return try await api.transfer("copy", from: path, to: target, overwrite: overwrite && !keeps, token)
        case .publish(let until): return try await api.publish(path, availableUntil: until, token)
        case .unpublish: return try await api.unpublish(path, token)
        case .restore(let name, let overwrite):
            return try await api.restore(path, name: name, overwrite: overwrite && !keeps, token)
        }
    }

    /// How long a body may take on its way; what a client may take for it is for the connection to say.
    private static let longestUpload: Duration = .seconds(6 * 3600)

    /// The link is asked for, which changes nothing; then the bytes go to it as they come.
    private func upload(_ body: ByteStream, length: Int?, overwrite: Bool) async throws -> Outcome {
        let overwrite = overwrite && !write.conditions.forbidReplacing
        let link = try await service.changing(write.path, account) {
            try await service.authorized(account.id) {
                try await service.api.uploadLink(write.path, overwrite: overwrite, $0)
            }
        }
        let bytes = UploadedBytes(length: length)
        let request = StreamedRequest(
            method: .put,
            url: link.href,
            headerFields: [.contentType: "application/octet-stream"],
            body: bytes.counting(body),
            bodyLength: length
        )
        return try await service.changing(write.path, account) {
            do {
                let response = try await service.api.upstream.stream(request, headTimeout: Self.longestUpload)
                let status = response.status
                // An uploader sends no page, whatever its status.
                if status.kind == .successful, response.headerFields[.contentType]?.hasPrefix("text/html") == true {
                    throw UpstreamError.badResponse(status: status, reason: "a page")
                }
                switch status.code {
                case 201: return .done(bytes.summary)
                // Taken, and not on the Disk yet.
                case 202: return link.operationID.map { .underWay($0) } ?? .done(bytes.summary)
                case 408, 429, 500...: throw UpstreamError.failing(status: status, retryAfter: nil)
                // What the uploader says of the bytes. Any other status is about the link, not about the Disk.
                case 409, 412, 413, 423: throw DiskRefusal(status: status.code, code: "")
                // 200 is that of a captive portal, if it is not an uploader that means 201.
                case 200..<300: throw UpstreamError.badResponse(status: status, reason: "not what an uploader answers")
                default:
                    throw UpstreamError.badResponse(status: status, reason: "the link for the upload does not work")
                }
            } catch let error as UpstreamError where error.leavesOutcomeUnknown {
                return .unknown(error, bytes.summary)
            }
        }
    }
}
