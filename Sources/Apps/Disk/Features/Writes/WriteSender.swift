import Concurrency
import Foundation
import HTTPSemantics
import HTTPTypes
import Screens
import Upstream

/// Sends one write to the API, once, and interprets the response.
struct WriteSender: Sendable {
    /// The result of sending.
    enum Outcome: Sendable {
        /// The API says that it is done, with the path if the response has it.
        case done(UploadedBytes.Summary?, place: DiskPath?)
        /// The API has accepted it and continues; the identifier of its operation.
        case underWay(String, UploadedBytes.Summary?)
        /// No usable response arrived, and it may have been carried out.
        case unknown(UpstreamError, UploadedBytes.Summary?)
        /// It is public, and its link ends then.
        case published(LinkEnd)
        /// It was public before, and its link ends then; nothing was sent.
        case unneeded(LinkEnd)
    }

    let calls: WriteCalls
    let write: DiskWrite
    let account: DiskAccount
    /// Checksum that a file to be deleted must have; nil for any.
    let guardedMD5: String?

    /// Sends the write.
    ///
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError` if nothing was changed: it was refused, or could not be
    ///   sent.
    func send() async throws -> Outcome {
        if case .upload(let body, let length, let overwrite) = write.kind {
            return try await upload(body, length: length, overwrite: overwrite)
        }
        return try await calls.call(about: write.path, account) {
            do {
                switch try await calls.tokens.authorized(account, call) {
                case .done(let place): return .done(nil, place: place)
                case .underWay(let operation): return .underWay(operation, nil)
                }
            } catch let error as UpstreamError where error.leavesOutcomeUnknown {
                return .unknown(error, nil)
            }
        }
    }

    private func call(_ token: String) async throws -> CallOutcome {
        let (client, path, keeps) = (calls.client, write.path, write.conditions.forbidReplacing)
        switch write.kind {
        case .upload, .publish: return .done(place: nil)
        case .makeFolder: return try await client.makeFolder(path, token)
        case .delete(let permanently):
            return try await client.delete(path, permanently: permanently, md5: guardedMD5, token)
        case .move(let target, let overwrite):
            return try await client.transfer("move", from: path, to: target, overwrite: overwrite && !keeps, token)
        case .copy(let target, let overwrite):
            return try await client.transfer("copy", from: path, to: target, overwrite: overwrite && !keeps, token)
        case .unpublish: return try await client.unpublish(path, token)
        case .restore(let name, let overwrite):
            return try await client.restore(path, name: name, overwrite: overwrite && !keeps, token)
        }
    }

    /// How long an upload may take. The connection limits how long the client may take to send it.
    private static let maximumUploadTime: Duration = .seconds(6 * 3600)

    /// Requests the link, which changes nothing; then sends the bytes to it while they arrive.
    private func upload(_ body: ByteStream, length: Int?, overwrite: Bool) async throws -> Outcome {
        let overwrite = overwrite && !write.conditions.forbidReplacing
        let bytes = UploadedBytes(length: length)
        return try await calls.call(about: write.path, account) {
            let link = try await calls.tokens.authorized(account) {
                try await calls.client.uploadLink(write.path, overwrite: overwrite, $0)
            }
            let request = StreamedRequest(
                method: .put,
                url: link.href,
                headerFields: [.contentType: "application/octet-stream"],
                body: bytes.counting(body),
                bodyLength: length
            )
            do {
                let response = try await calls.client.upstream.stream(request, headTimeout: Self.maximumUploadTime)
                guard try Self.isUnfinished(response), let operation = link.operationID else {
                    return .done(bytes.summary, place: nil)
                }
                return .underWay(operation, bytes.summary)
            } catch let error as UpstreamError where error.leavesOutcomeUnknown {
                return .unknown(error, bytes.summary)
            }
        }
    }

    /// Whether an uploader has accepted the bytes that are not on the Disk yet (202).
    ///
    /// - Throws: ``DiskRefusal`` if it refuses the bytes; `UpstreamError` if it fails, or is not an uploader.
    private static func isUnfinished(_ response: StreamedResponse) throws -> Bool {
        let status = response.status
        // An uploader sends no page, whatever its status.
        let type = response.headerFields[.contentType].map { ParameterizedValue.essence(of: $0) }
        if status.kind == .successful, type == "text/html" {
            throw UpstreamError.badResponse(status: status, reason: "a page")
        }
        switch status.code {
        case 201: return false
        case 202: return true
        case 408, 429, 500...: throw UpstreamError.failing(status: status, retryAfter: nil)
        // What the uploader says of the bytes. Any other status is about the link, not about the Disk.
        case 409, 412, 413, 423: throw DiskRefusal(status: status.code, code: "")
        // 200 is that of a captive portal, if it is not an uploader that means 201.
        case 200..<300: throw UpstreamError.badResponse(status: status, reason: "not a response of an uploader")
        default: throw UpstreamError.badResponse(status: status, reason: "the link for the upload does not work")
        }
    }
}
