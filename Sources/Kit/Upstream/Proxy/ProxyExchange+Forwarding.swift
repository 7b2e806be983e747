import Concurrency
import Foundation
import HTTP
import HTTPTypes
import Logging
import NIOCore
import Storage

extension ProxyExchange {
    /// Longest wait for the head of a response to a request with a body: a large one takes the time that its client
    /// takes.
    private static let longestUpload: Duration = .seconds(3600)

    /// Sends the request, with the preconditions of a stored response if it is validated (RFC 9111 §4.3.1).
    mutating func send(_ validation: Validation?) async throws -> ProxyEvent {
        var fields = request.fields
        validation?.condition.apply(to: &fields)
        let forwarded: ForwardedResponse
        do throws(UpstreamError) {
            forwarded = try await forward(fields)
        } catch {
            try Task.checkCancellation()
            flight?.complete(.failed(error))
            return .failed(error)
        }
        self.forwarded = forwarded
        let status = forwarded.response.status
        guard let validation else { return .responded(status, nil) }
        let outcome = rules.outcome(
            of: validation,
            response: forwarded.head,
            request: request.cacheKeyRequest,
            candidates: candidates.map(\.head),
            requestTime: forwarded.requestTime,
            responseTime: forwarded.responseTime
        )
        if outcome == .useStored { flight?.complete(.failed(.failing(status: status, retryAfter: nil))) }
        return .responded(status, outcome)
    }

    /// Sends the request again without preconditions.
    mutating func sendUnconditionally() async throws -> ProxyEvent {
        if let forwarded { try await drain(forwarded) }
        request = request.unconditional
        return try await send(nil)
    }

    func forward(_ fields: HTTPFields) async throws(UpstreamError) -> ForwardedResponse {
        let requestTime = now
        let uninvalidated = store.uninvalidated(request.key)
        var response = try await client.stream(
            StreamedRequest(
                method: request.cacheKeyRequest.method,
                url: request.url,
                headerFields: fields,
                body: request.body,
                bodyLength: request.bodyLength,
                credential: request.credential,
                interim: request.interim
            ),
            .forwarding(headTimeout: request.body == nil ? nil : Self.longestUpload)
        )
        ForwardedFields.addKeys(to: &response.headerFields, mount.upstream.configuration.mount)
        if let links = mount.links, !request.isLink, links.concerns(response.headerFields) {
            response = try await whole(response, upTo: links.largest)
        }
        return ForwardedResponse(
            response: response.withValidStatus.withoutOwnFields,
            requestTime: requestTime,
            responseTime: now,
            uninvalidated: uninvalidated
        )
    }

    /// Receives a response whole, because its links are to be read.
    private func whole(_ response: StreamedResponse, upTo limit: Int) async throws(UpstreamError) -> StreamedResponse {
        guard response.headerFields[.contentEncoding] == nil else {
            throw .badResponse(status: response.status, reason: "a coding that was not asked for")
        }
        guard request.cacheKeyRequest.method != .head, response.status != .noContent, response.status != .notModified
        else { return response }
        var whole = response
        do {
            let body = try await response.body.collect(upTo: limit)
            whole.headerFields[.contentLength] = String(body.readableBytes)
            whole.body = ByteStream(body)
            return whole
        } catch is NIOTooManyBytesError {
            throw .badResponse(status: response.status, reason: "more than \(limit) bytes")
        } catch {
            client.recordBrokenBody()
            throw .badResponse(status: response.status, reason: UpstreamError.cutShort)
        }
    }

    /// Reads a response without content to its end, which frees the connection for the next request.
    func drain(_ forwarded: ForwardedResponse) async throws {
        do {
            for try await _ in forwarded.response.body {}
        } catch {
            try Task.checkCancellation()
            mount.upstream.logger.debug("a response without a body was truncated", metadata: ["error": "\(error)"])
        }
    }

    /// Passes the upstream's response on. Before, its effect on stored responses is recorded (RFC 9111 §4.4). The
    /// response is stored while it passes.
    mutating func pass() async throws -> Progress {
        guard let received = forwarded else { return .event(.failed(.notStored)) }
        let forwarded = try await recordEffects(of: received)
        let stored = try await storedHead(of: forwarded)
        var head = forwarded.head
        HopByHop.remove(from: &head.headerFields)
        rules.account(of: plan.reason, upstreamStatus: head.status.code, stored: stored != nil)
            .append(to: &head.headerFields, cacheName: rules.cacheName)
        if request.cacheKeyRequest.method == .head || head.status == .noContent || head.status == .notModified {
            try await drain(forwarded)
            complete(await save(stored, Data(), from: forwarded))
            return .response(ProxyResponse(head: head, body: .none))
        }
        guard let stored else {
            flight?.complete(.notStored)
            let body = ProxyResponse.Body.stream(forwarded.response.body, length: forwarded.announced)
            return .response(ProxyResponse(head: head, body: body))
        }
        if let range = stored.parts?.ranges.first {
            let body = storingPart(stored, range, from: forwarded)
            return .response(ProxyResponse(head: head, body: .stream(body, length: range.count)))
        }
        let mayBeFile = mount.links?.concerns(forwarded.response.headerFields) != true || request.isLink
        guard let length = forwarded.announced, !mayBeFile || length <= BlobStore.inlineLimit else {
            let body = storing(stored, from: forwarded)
            return .response(ProxyResponse(head: head, body: .stream(body, length: forwarded.announced)))
        }
        return try await passWhole(head, length, storing: stored, from: forwarded)
    }

    /// Receives a small response whole before any of it is sent. So requests that wait for it do not wait for this
    /// client, and the client has seen no part of it if it is truncated.
    private func passWhole(
        _ head: HTTPResponse,
        _ length: Int,
        storing stored: CachedResponseHead,
        from forwarded: ForwardedResponse
    ) async throws -> Progress {
        let bytes: ByteBuffer
        do {
            bytes = try await forwarded.response.body.collect(upTo: length)
            guard bytes.readableBytes == length else {
                throw StorageError.incompleteBody(expected: length, received: bytes.readableBytes)
            }
        } catch {
            try Task.checkCancellation()
            let status = forwarded.response.status
            client.recordBrokenBody()
            flight?.complete(.failed(.badResponse(status: status, reason: UpstreamError.cutShort)))
            return .event(.brokeOff(status))
        }
        complete(await save(stored, Data(bytes.readableBytesView), from: forwarded))
        return .response(ProxyResponse(head: head, body: .bytes(bytes)))
    }

    /// Returns the body of a response that is stored while the client reads it.
    private func storing(_ stored: CachedResponseHead, from forwarded: ForwardedResponse) -> ByteStream {
        let (mount, request, flight) = (mount, request, flight)
        let tee = CachingBodyTee(
            to: mount.store.blobs,
            expectedLength: forwarded.announced,
            limit: mount.store.largestBody,
            remains: { writer, received in
                guard let beginning = mount.rules.beginning(of: stored, received: received) else { return }
                mount.keep(writer, beginning, 0..<received, for: request, from: forwarded)
            },
            save: { body in try await mount.store.save(stored, body, for: request, from: forwarded) }
        )
        return tee.passing(forwarded.response.body) { outcome in
            switch outcome {
            case .stored:
                flight?.complete(.stored)
                return
            case .tooLarge: await mount.removeSuperseded(by: request)
            case .notStored(let error): mount.logUnstored(error)
            case .brokenOff: mount.upstream.client.recordBrokenBody()
            case .wrongLength, .wrongChecksum: break
            }
            flight?.complete(.notStored)
        }
    }

    /// Stores a body that is in memory.
    ///
    /// - Returns: Whether it was stored. A response that cannot be stored is sent all the same.
    private func save(_ stored: CachedResponseHead?, _ bytes: Data, from forwarded: ForwardedResponse) async -> Bool {
        guard let stored else { return false }
        do {
            try await store.save(stored, .bytes(bytes), for: request, from: forwarded)
            return true
        } catch {
            mount.logUnstored(error)
            return false
        }
    }

    private func complete(_ isStored: Bool) {
        flight?.complete(isStored ? .stored : .notStored)
    }
}

extension Mount {
    /// Removes the responses that are superseded by one that turned out to be too large.
    fileprivate func removeSuperseded(by request: ProxiedRequest) async {
        do {
            try await store.removeSuperseded(by: request)
        } catch {
            logUnstored(error)
        }
    }

    /// Logs that a response was sent without being stored.
    func logUnstored(_ error: any Error) {
        upstream.logger.warning("a response could not be stored", metadata: ["error": "\(error)"])
    }
}

extension ProxyExchange {
    /// Requests the bytes that are missing, and makes the response of them and of the stored ones (RFC 9111 §3.4).
    mutating func complete(_ completion: Completion) async throws -> Progress {
        var fields = request.fields
        completion.apply(to: &fields)
        let forwarded: ForwardedResponse
        do throws(UpstreamError) {
            forwarded = try await forward(fields)
        } catch {
            try Task.checkCancellation()
            return .event(.failed(error))
        }
        let outcome = rules.outcome(
            of: completion,
            response: forwarded.head,
            request: request.cacheKeyRequest,
            requestTime: forwarded.requestTime,
            responseTime: forwarded.responseTime
        )
        switch outcome {
        // Its body is not read, which ends the connection: it can be as long as the client's own request is.
        case .retry: return .event(.unreadable)
        case .pass:
            self.forwarded = forwarded
            return .event(.responded(forwarded.response.status, nil))
        case .combined(let head): return try await serveCombined(completion, head, forwarded)
        }
    }

    /// Makes the response of stored bytes and of those that arrive, which are stored on their way.
    private func serveCombined(
        _ completion: Completion,
        _ head: CachedResponseHead,
        _ forwarded: ForwardedResponse
    ) async throws -> Progress {
        let (stored, missing) = (candidates[completion.index], completion.missing)
        let length = head.parts?.completeLength ?? 0
        let wanted = head.bytes(for: request, of: length)
        guard wanted.lowerBound <= missing.lowerBound, missing.upperBound <= wanted.upperBound,
            let before = try await store.openParts(of: stored, wanted.lowerBound..<missing.lowerBound),
            let after = try await store.openParts(of: stored, missing.upperBound..<wanted.upperBound)
        else { return .event(.unreadable) }
        var arriving = forwarded.response.body
        let part = try await storedHead(of: forwarded)
        if let part { arriving = storingPart(part, missing, from: forwarded) }
        var response = served(
            rules.reuse(of: head, at: completion.index, now: now),
            .parts([], length: length),
            as: rules.account(of: .partial, upstreamStatus: 206, stored: part != nil),
            isOffline: false
        )
        let body = ByteStream(joining: [ByteStream(before), arriving, ByteStream(after)])
        response.body = .stream(body, length: wanted.count)
        return .response(response)
    }

    /// Returns the body of a part that is stored while the client reads it; if it ends early, its first bytes are
    /// stored.
    func storingPart(_ part: CachedResponseHead, _ range: Range<Int>, from forwarded: ForwardedResponse) -> ByteStream {
        let (mount, request) = (mount, request)
        let tee = CachingBodyTee(
            to: mount.store.blobs,
            expectedLength: range.count,
            limit: mount.store.largestBody,
            remains: { writer, received in
                guard received < range.count else { return }
                let beginning = range.lowerBound..<(range.lowerBound + received)
                mount.keep(writer, part, beginning, for: request, from: forwarded)
            },
            save: { body in
                try await mount.store.savePart(part, range, body, for: request, from: forwarded, by: mount.rules)
            }
        )
        return tee.passing(forwarded.response.body) { outcome in
            switch outcome {
            case .notStored(let error): mount.logUnstored(error)
            case .brokenOff: mount.upstream.client.recordBrokenBody()
            case .stored, .tooLarge, .wrongLength, .wrongChecksum: break
            }
        }
    }
}

extension Mount {
    /// Stores the received part of a body that ended early, or whose client has disconnected.
    func keep(
        _ writer: BodyWriter,
        _ head: CachedResponseHead,
        _ range: Range<Int>,
        for request: ProxiedRequest,
        from forwarded: ForwardedResponse
    ) {
        background.start { [self] in
            do {
                let body = try writer.finish()
                try await store.savePart(head, range, body, for: request, from: forwarded, by: rules)
            } catch {
                logUnstored(error)
            }
        }
    }
}
