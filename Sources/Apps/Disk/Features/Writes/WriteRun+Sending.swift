import Concurrency
import Foundation
import HTTP
import HTTPTypes
import NIOCore
import Screens
import Upstream

// The requests of one write, and how their responses are interpreted.
extension WriteRun {
    /// The result of sending.
    enum Sent: Sendable {
        /// The API says that it is done, with the path if the response has it; of a publication, the end of its link.
        case done(ByteSummary? = nil, place: DiskPath? = nil, linkEnd: LinkEnd? = nil)
        /// The API has accepted it and continues it by the operation with this identifier.
        case underWay(String, ByteSummary?)
        /// It was done before: this item exists.
        case unneeded(DiskItem)
        /// No usable response arrived, and it may have been carried out. The operation is the one by which the API then
        /// continues it, if there is one.
        case unknown(UpstreamError, ByteSummary?, operation: String? = nil)
    }

    /// Sends the write, once.
    ///
    /// - Parameter subject: The item that it acts on.
    /// - Throws: `Problem`, `UpstreamFailure`, `StorageError` if nothing was changed: it was refused, or could not be
    ///   sent.
    func send(_ subject: DiskItem?) async throws -> Sent {
        if case .publish(let end) = write.kind { return try await publish(end, subject) }
        if case .upload(let body, let length, let overwrite) = write.kind {
            return try await upload(body, length: length, overwrite: overwrite)
        }
        return try await disk.call(about: write.path, to: write.target, account) {
            do {
                switch try await disk.tokens.authorized(account, { try await call(subject, $0) }) {
                case .done(let place): return .done(place: place)
                case .underWay(let operation): return .underWay(operation, nil)
                }
            } catch let error as UpstreamError where error.leavesOutcomeUnknown {
                return .unknown(error, nil)
            }
        }
    }

    private func call(_ subject: DiskItem?, _ access: DiskAccess) async throws -> CallOutcome {
        let (client, path, keeps) = (disk.client, write.path, write.conditions.forbidReplacing)
        switch write.kind {
        case .upload, .publish: return .done(place: nil)
        case .makeFolder: return try await client.makeFolder(path, access)
        case .delete(let permanently):
            return try await client.delete(path, permanently: permanently, md5: guardedMD5(subject), access)
        case .move(let target, let overwrite):
            return try await client.transfer("move", from: path, to: target, overwrite: overwrite && !keeps, access)
        case .copy(let target, let overwrite):
            return try await client.transfer("copy", from: path, to: target, overwrite: overwrite && !keeps, access)
        case .unpublish: return try await client.unpublish(path, access)
        case .restore(let name, let overwrite):
            return try await client.restore(path, name: name, overwrite: overwrite && !keeps, access)
        case .purge: return try await client.purge(path, access)
        }
    }

    /// How long the bytes of an upload may take. The connection limits how long the client may take to send them.
    private static let longestBody: Duration = .seconds(6 * 3600)

    /// Requests the link, which changes nothing; then sends the bytes to it while they arrive.
    private func upload(_ body: ByteStream, length: Int?, overwrite: Bool) async throws -> Sent {
        let overwrite = overwrite && !write.conditions.forbidReplacing
        return try await disk.call(about: write.path, account) {
            let link: LinkRecord
            do {
                link = try await disk.tokens.authorized(account) {
                    try await disk.client.uploadLink(write.path, overwrite: overwrite, $0)
                }
            } catch let refusal as DiskRefusal where refusal.saysThatTargetExists && !write.conditions.forbidReplacing {
                guard let item = try await present(length: length), try await body.isContent(of: item) else {
                    throw refusal
                }
                return .unneeded(item)
            }
            let bytes = UploadedBytes(length: length) {
                if let operation = link.operationID { try await write.beforeLastByte(operation) }
            }
            guard let response = await response(to: put(bytes.counting(body), length: length, to: link), bytes, link)
            else { return .underWay(link.operationID ?? "", bytes.summary) }
            return try await outcome(of: response, bytes.summary, link)
        }
    }

    private func put(_ body: ByteStream, length: Int?, to link: LinkRecord) -> LateUploads.Put {
        let request = StreamedRequest(
            method: .put,
            url: link.href,
            headerFields: [.contentType: "application/octet-stream"],
            body: body,
            bodyLength: length
        )
        let (upstream, timeout) = (disk.client.upstream, disk.uploadResponse)
        return Task { [clock] in
            let response = try await upstream.stream(
                request,
                headTimeout: Self.longestBody + timeout,
                responseTimeout: timeout
            )
            return try Self.isUnfinished(response, at: clock.now())
        }
    }

    /// Waits for the response to an upload. One that is late is left to ``LateUploads``, if its operation can be
    /// followed.
    ///
    /// - Returns: Nil if it is late.
    private func response(to put: LateUploads.Put, _ bytes: UploadedBytes, _ link: LinkRecord) async
        -> Result<Bool, any Error>?
    {
        guard let operation = link.operationID else { return await put.result }
        let start = clock.now()
        let (results, result) = AsyncStream<Result<Bool, any Error>?>.makeStream()
        Task { result.yield(await put.result) }
        let timer = Task { [clock, timeout = disk.client.upstream.configuration.totalTimeout] in
            await bytes.ended()
            try await clock.sleep(timeout)
            result.yield(nil)
        }
        defer { timer.cancel() }
        for await first in results {
            if first == nil {
                disk.uploads.keep(put, as: operation, to: write.path, of: account.id)
                RequestScope.current?.extend(by: clock.now().timeIntervalSince(start))
            }
            return first
        }
        return nil
    }

    private func outcome(
        of response: Result<Bool, any Error>,
        _ sent: ByteSummary?,
        _ link: LinkRecord
    ) async throws -> Sent {
        do {
            guard try response.get(), let operation = link.operationID else { return .done(sent) }
            return .underWay(operation, sent)
        } catch let refusal as DiskRefusal where refusal.saysThatTargetExists {
            guard let sent, let item = try await present(length: sent.count), item.hasContent(sent) else {
                throw refusal
            }
            return .unneeded(item)
        } catch let error as UpstreamError where error.leavesOutcomeUnknown {
            // An upload whose bytes were not all sent cannot continue.
            return .unknown(error, sent, operation: sent == nil ? nil : link.operationID)
        }
    }

    /// Returns the file at the path of an upload if it may have the same content: an identical upload is done already.
    private func present(length: Int?) async throws -> DiskItem? {
        do {
            let item = try await disk.current(write.path, account)
            return item.comparedMD5 != nil && item.size != nil && length ?? item.size == item.size ? item : nil
        } catch let refusal as DiskRefusal where refusal.isGone {
            return nil
        }
    }

    /// Whether an uploader has accepted the bytes that are not on the Disk yet (202).
    ///
    /// - Throws: ``DiskRefusal`` if it refuses the bytes; `UpstreamError` if it fails, or is not an uploader.
    private static func isUnfinished(_ response: StreamedResponse, at now: Date) throws -> Bool {
        let status = response.status
        // An uploader sends no page, whatever its status.
        let type = response.headerFields[.contentType].map { ParameterizedValue.essence(of: $0) }
        if status.kind == .successful, type == "text/html" {
            throw UpstreamError.badResponse(status: status, reason: "a page")
        }
        switch status.code {
        case 201: return false
        case 202: return true
        case 408, 429, 500...:
            let retryAfter = RetryAfter.seconds(response.headerFields, at: now)
            throw UpstreamError.failing(status: status, retryAfter: retryAfter)
        // The uploader's refusals of the bytes. Any other status is about the link, not about the Disk.
        case 409, 412, 413, 423: throw DiskRefusal(status: status.code, code: "")
        // Uploaders respond with 201; a 200 may be that of a captive portal.
        case 200..<300: throw UpstreamError.badResponse(status: status, reason: "not a response of an uploader")
        default: throw UpstreamError.badResponse(status: status, reason: "the link for the upload does not work")
        }
    }

    /// Returns the checksum that the API compares when it deletes a file, if the request has `If-Match`, or a write of
    /// the outbox leaves the comparison to it.
    private func guardedMD5(_ subject: DiskItem?) -> String? {
        guard write.conditions.ifMatch != nil || write.isCompared else { return nil }
        return subject?.comparedMD5
    }
}

// The publication of a file or folder.
extension WriteRun {
    /// Publishes a file or folder, and gives its link an end. The API takes and tells ends in calls of their own, and
    /// ignores one that is sent with the publication: whether a link has the requested end is read back.
    ///
    /// - Throws: As ``send(_:)`` does; 403 `upstream-forbidden` if the link does not get the end: then
    ///   something that was not public is not public.
    private func publish(_ wish: LinkEnd, _ subject: DiskItem?) async throws -> Sent {
        let (path, hasLink) = (write.path, subject?.publicURL != nil)
        if let end = wish.date, end <= clock.now() { throw Problem(.outboxState, .linkTimeOver) }
        if hasLink {
            let present = try await disk.call(about: path, account) { try await disk.linkEnd(path, account) }
            guard wish.missing(from: present, at: clock.now()) != nil else {
                var item = subject ?? DiskItem(path: path, kind: .file)
                item.linkEnd = present
                return .unneeded(item)
            }
        }
        return try await disk.call(about: path, account) {
            do {
                if !hasLink {
                    let outcome = try await disk.tokens.authorized(account) { try await disk.client.publish(path, $0) }
                    if case .underWay(let operation) = outcome { return .underWay(operation, nil) }
                }
            } catch let error as UpstreamError where error.leavesOutcomeUnknown {
                return .unknown(error, nil)
            }
            return try await finish(wish, subject)
        }
    }

    /// Gives a public link its end. Without it, something that was not public before is withdrawn.
    private func finish(_ wish: LinkEnd, _ subject: DiskItem?) async throws -> Sent {
        do {
            return .done(linkEnd: try await give(wish, subject))
        } catch  where subject?.publicURL == nil && wish == .unspecified {
            // Any end will do, and it is public.
            return .done(linkEnd: .unspecified)
        } catch  where subject?.isPublished != true {
            do {
                _ = try await disk.tokens.authorized(account) { try await disk.client.unpublish(write.path, $0) }
            } catch let failure as UpstreamError where failure.leavesOutcomeUnknown {
                return .unknown(failure, nil)
            }
            throw error
        } catch let error as UpstreamError where error.leavesOutcomeUnknown {
            return .unknown(error, nil)
        }
    }

    private func give(_ wish: LinkEnd, _ subject: DiskItem?) async throws -> LinkEnd {
        let path = write.path
        let present = try await disk.linkEnd(path, account)
        guard let missing = wish.missing(from: present, at: clock.now()) else { return present }
        do {
            try await disk.tokens.authorized(account) { try await disk.client.setLinkEnd(missing, of: path, $0) }
        } catch let refusal as DiskRefusal where refusal.concernsSettings {
            throw refused(subject)
        }
        guard try await disk.linkEnd(path, account) == missing else { throw refused(subject) }
        return missing
    }

    private func refused(_ subject: DiskItem?) -> Problem {
        Problem(
            .upstreamForbidden,
            .linkEndRefused(isShared: subject?.isPublished == true),
            upstream: disk.client.cause(),
            href: write.path.link(to: "/v1/disk/file")
        )
    }
}

extension ByteStream {
    /// Whether these are the bytes of a file. It reads no more of them than it has to.
    fileprivate func isContent(of item: DiskItem) async throws -> Bool {
        let bytes = UploadedBytes(length: nil)
        var rest = item.size ?? 0
        for try await part in bytes.counting(self) {
            rest -= part.readableBytes
            guard rest >= 0 else { return false }
        }
        return bytes.summary.map(item.hasContent) ?? false
    }
}

extension DiskItem {
    /// Whether it is a file that certainly has this content.
    fileprivate func hasContent(_ bytes: ByteSummary) -> Bool {
        size == bytes.count && comparedMD5?.lowercased() == bytes.md5
    }
}
