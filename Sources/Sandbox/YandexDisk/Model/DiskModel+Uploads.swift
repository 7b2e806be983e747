import Foundation
import HTTPTypes

/// Links for uploads, and what comes over them.
extension DiskModel {
    mutating func upload(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        let path = try request.path("path")
        let overwrite = try request.flag("overwrite")
        try checkUploadTarget(path, overwrite: overwrite, account: account)
        let used = trees[account].usedSpace().all
        guard used < trees[account].totalSpace else { throw .quota }
        let operation = operations.add(.nothing, account: account, now: request.now, waits: true)
        let expires = request.now.addingTimeInterval(TimeInterval(links.settings.uploadLifetime))
        let upload = DiskUpload(
            account: account,
            path: path,
            overwrite: overwrite,
            operation: operation,
            expires: expires
        )
        let target = register(upload, now: request.now)
        let href = "\(links.origin(request.origin))/yandex_uploader/upload-target/\(target)"
        return request.link(.ok, href: href, method: "PUT", operation: operation)
    }

    /// The sandbox fetches nothing: the operation is taken and fails.
    mutating func uploadFromURL(_ request: DiskRequest, _ account: Int) throws(DiskFailure) -> UpstreamResponse {
        _ = try request.text("url")
        try checkTarget(try request.path("path"), overwrite: false, account: account)
        let operation = operations.add(.nothing, account: account, now: request.now)
        operations.settle(operation, "failed")
        return request.link(.accepted, href: "\(request.base)/operations/\(operation)")
    }

    /// Ends the operation of an upload whose bytes have not come to their end. Its link holds for another attempt.
    mutating func breakOff(target: String) {
        if let upload = uploads[target] { operations.settle(upload.operation, "failed") }
    }

    /// Takes the bytes of an upload. A link holds for one success.
    mutating func receive(_ body: ReceivedBody, target: String, now: Date) -> UpstreamResponse {
        guard let upload = uploads[target], now <= upload.expires else { return .text(.gone, "upload target is gone") }
        let change = DiskChange.store(DiskContent(body), at: upload.path, overwrite: upload.overwrite)
        do throws(DiskFailure) {
            if operations.rules.calls.contains(.upload) {
                try check(change, account: upload.account)
                operations.resume(upload.operation, change: change, now: now)
                uploads[target] = nil
                return UpstreamResponse(status: .accepted)
            }
            try perform(change, account: upload.account, at: now)
        } catch {
            return .text(error.status, error.description)
        }
        operations.resume(upload.operation, change: nil, now: now)
        uploads[target] = nil
        return UpstreamResponse(status: .created)
    }
}
