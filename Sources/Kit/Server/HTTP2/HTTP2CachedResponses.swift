import Concurrency
import CoreMetrics
import NIOCore
import NIOHPACK
import NIOHTTP2

/// Bodies of cached responses that the client has not taken yet, because it has not opened its windows.
struct CachedWrites {
    /// Bytes by stream.
    private(set) var waiting: [HTTP2StreamID: Int] = [:]
    private(set) var bytes = 0
    private(set) var taken = 0
    var stalled: StalledWriteDetector

    init(deadline: TimeAmount) { stalled = StalledWriteDetector(deadline: deadline) }

    mutating func wrote(_ count: Int, on stream: HTTP2StreamID, now: NIODeadline) {
        waiting[stream, default: 0] += count
        bytes += count
        if !stalled.isWatching { stalled.begin(taken: taken, now: now) }
    }

    /// The client has taken bytes, or the stream has ended.
    mutating func ended(_ count: Int, on stream: HTTP2StreamID) {
        bytes -= count
        taken += count
        guard let rest = waiting[stream] else { return }
        waiting[stream] = rest > count ? rest - count : nil
    }
}

/// Cached responses of a connection, as ``ResponseCacheHandler`` sends those of HTTP/1.1.
extension HTTP2ConnectionHandler {
    enum CacheOutcome { case served, postponed, missed }

    /// Responds to a request if its response is cached.
    func respond(to frame: HTTP2Frame, _ block: HPACKHeaders, _ context: ChannelHandlerContext) -> CacheOutcome {
        guard let cache, let head = HTTP2RequestHead(block).cacheKey,
            head.readableBytes <= limits.headerBytes
        else { return .missed }
        let now = context.eventLoop.now
        guard let (response, place) = cache.find(head, now: now) else { return .missed }
        guard share.begins(.cachedResponse, now: now, otherwise: { self.resume() }) else { return .postponed }
        date.update(now: now)
        let identity = cache.identities.identity(of: head)
        requests.note(head, on: Int(frame.streamID), at: place, now: now)
        send(response, response.block(date: date, requestID: identity, now: now), on: frame.streamID, context)
        response.record.note(
            .nanoseconds((context.eventLoop.now - now).nanoseconds),
            requestID: identity,
            traceID: SignificantHead.traceID(of: head),
            logger: cache.logger
        )
        cache.hits.increment()
        share.sent(responses: 1, bytes: response.size)
        return .served
    }

    private func send(
        _ response: CachedBytes,
        _ block: HPACKHeaders,
        on stream: HTTP2StreamID,
        _ context: ChannelHandlerContext
    ) {
        var body = response.body
        let head = HTTP2Frame(
            streamID: stream,
            payload: .headers(.init(headers: block, endStream: body.readableBytes == 0))
        )
        context.write(Self.wrapOutboundOut(head), promise: nil)
        while let piece = body.readSlice(length: min(body.readableBytes, HTTP2StreamHandler.frameBytes)),
            piece.readableBytes > 0
        {
            let count = piece.readableBytes
            cachedWrites.wrote(count, on: stream, now: context.eventLoop.now)
            open.hold(count)
            let taken = context.eventLoop.makePromise(of: Void.self)
            taken.futureResult.assumeIsolated().whenComplete { _ in
                self.cachedWrites.ended(count, on: stream)
                self.open.hold(-count)
            }
            let data = HTTP2Frame.FramePayload.Data(data: .byteBuffer(piece), endStream: body.readableBytes == 0)
            context.write(Self.wrapOutboundOut(HTTP2Frame(streamID: stream, payload: .data(data))), promise: taken)
        }
        watchWrites(context)
    }

    /// A stream was responded to ahead of NIO.
    func served(_ stream: Int, now: NIODeadline) { state.served(HTTP2StreamID(stream), now: now) }

    /// Watches whether the client takes the bytes that were sent ahead of NIO.
    func watchWrites() {
        if let context { watchWrites(context) }
    }

    /// Ends the streams of cached responses if the client has taken nothing of them for long.
    func resetStalled(_ context: ChannelHandlerContext) {
        let (taken, waiting) = (cachedWrites.taken, cachedWrites.bytes)
        guard cachedWrites.stalled.isStalled(taken: taken, waiting: waiting, now: context.eventLoop.now) else { return }
        cachedWrites.stalled = StalledWriteDetector(deadline: TimeAmount(limits.writeDeadline))
        for stream in cachedWrites.waiting.keys {
            reports.onAbruptClose(.writeStalled)
            let reset = HTTP2Frame(streamID: stream, payload: .rstStream(.cancel))
            context.write(Self.wrapOutboundOut(reset), promise: nil)
        }
        context.flush()
    }
}

extension CachedBytes {
    /// Returns the header block of the response with the fields that depend on the time and the request.
    func block(date: ServerDate, requestID: RequestIdentity, now: NIODeadline) -> HPACKHeaders {
        let fields = fields
        var block = HPACKHeaders()
        block.reserveCapacity(fields.count + 1)
        block.add(name: ":status", value: String(record.status))
        for field in fields {
            guard let changing = field.changing else {
                block.add(name: field.name, value: field.before, indexing: HeaderBlock.indexing(of: field.name))
                continue
            }
            let value =
                switch changing {
                case .date: date.text
                case .requestID: requestID.description
                case .age: changeToken.age.map { String($0.seconds(at: now)) } ?? ""
                case .timeToLive: changeToken.age.map { String($0.timeToLive(at: now)) } ?? ""
                }
            block.add(name: field.name, value: field.before + value + field.after, indexing: .nonIndexable)
        }
        return block
    }

    /// Returns the largest number of bytes of its frames.
    func framesSize(_ block: CachedBlock) -> Int {
        let frames = 2 + body.readableBytes / HTTP2FrameHead.payload
        return block.size + body.readableBytes + frames * HTTP2FrameHead.size
    }

    /// Writes the response as the frames of a stream, HEADERS and DATA, of which the last ends it.
    ///
    /// - Parameter block: That of this response.
    func writeFrames(
        _ block: CachedBlock,
        to buffer: inout ByteBuffer,
        stream: Int,
        date: ServerDate,
        requestID: RequestIdentity,
        now: NIODeadline
    ) {
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: framesSize(block)) { bytes in
            var writer = ByteWriter(bytes)
            writer.skip(HTTP2FrameHead.size)
            for piece in block.pieces {
                switch piece {
                case .bytes(let bytes): bytes.withUnsafeBytes { writer.write($0) }
                case .value(let before, let value, let after):
                    writer.writeString {
                        $0.write(before)
                        write(value, to: &$0, date: date, requestID: requestID, now: now)
                        $0.write(after)
                    }
                }
            }
            let isWhole = body.readableBytes == 0
            let flags = HTTP2FrameHead.endHeaders | (isWhole ? HTTP2FrameHead.endStream : 0)
            let length = writer.count - HTTP2FrameHead.size
            writer.setFrameHead(.headers, length: length, flags: flags, stream: stream, at: 0)
            body.withUnsafeReadableBytes { writer.writeData($0, stream: stream) }
            return writer.count
        }
    }
}

extension ByteWriter {
    /// Sets the head of a frame (RFC 9113 §4.1) where room was left for it.
    fileprivate func setFrameHead(
        _ kind: HTTP2FrameHead.Kind,
        length: Int,
        flags: UInt8,
        stream: Int,
        at index: Int
    ) {
        set(UInt32(length) << 8 | UInt32(kind.rawValue), at: index)
        set(flags, at: index + 4)
        set(UInt32(stream), at: index + 5)
    }

    /// Writes bytes as the frames that end a stream; none without bytes.
    fileprivate mutating func writeData(_ bytes: UnsafeRawBufferPointer, stream: Int) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = rest.prefix(HTTP2FrameHead.payload)
            rest = rest.dropFirst(piece.count)
            let (start, flags) = (count, rest.isEmpty ? HTTP2FrameHead.endStream : 0)
            skip(HTTP2FrameHead.size)
            setFrameHead(.data, length: piece.count, flags: flags, stream: stream, at: start)
            write(UnsafeRawBufferPointer(rebasing: piece))
        }
    }
}
