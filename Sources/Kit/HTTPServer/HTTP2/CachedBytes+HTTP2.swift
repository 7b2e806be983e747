import Freshness
import NIOCore
import NIOHPACK

extension CachedBytes {
    /// Returns the header block of the response with the fields that depend on the time and the request.
    func block(date: ServerDate, requestID: RequestIdentity, now: NIODeadline) -> HPACKHeaders {
        let head = fields
        var block = HPACKHeaders()
        block.reserveCapacity(head.fields.count + 1)
        block.add(name: ":status", value: head.status)
        for field in head.fields {
            switch field.value {
            case .fixed(let value):
                block.add(name: field.name, value: value, indexing: HeaderBlock.indexing(of: field.name))
            case .date:
                block.add(name: field.name, value: date.text, indexing: .nonIndexable)
            case .requestID:
                block.add(name: field.name, value: requestID.description, indexing: .nonIndexable)
            case .age:
                let age = changeToken.age.map { $0.seconds(at: now) } ?? 0
                block.add(name: field.name, value: String(age), indexing: .nonIndexable)
            case .timeToLive(let before, let after):
                let left = changeToken.age.map { $0.timeToLive(at: now) } ?? 0
                block.add(name: field.name, value: "\(before)\(left)\(after)", indexing: .nonIndexable)
            }
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
                case .date: writer.writeString { $0.write(date.text) }
                case .requestID: writer.writeString { $0.write(requestID) }
                case .age:
                    let age = changeToken.age.map { $0.seconds(at: now) } ?? 0
                    writer.writeString { $0.write(age) }
                case .timeToLive(let before, let after):
                    let left = changeToken.age.map { $0.timeToLive(at: now) } ?? 0
                    writer.writeString {
                        $0.write(before)
                        $0.write(left)
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
