import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// Returns the response as a fault has it sent.
    ///
    /// - Parameters:
    ///   - waiting: Lets time pass.
    ///   - holding: Waits until the request is released.
    /// - Throws: If no response is to be sent.
    func delivered(
        _ delivery: Delivery,
        on channel: any Channel,
        waiting: @escaping @Sendable (Duration) async throws -> Void,
        holding: @escaping @Sendable () async throws -> Void
    ) async throws -> Response {
        let (body, length) = (body, body.contentLength)
        guard !delivery.isPlain else { return self }
        guard !delivery.isSilent(of: length) else { throw await channel.reset() }
        var response = self
        if delivery.closeDelay != nil { response.headers[.connection] = "close" }
        response.body = ResponseBody(contentLength: length) { writer in
            // The length of a stream is unknown, so the fault cannot find its middle.
            let steps = delivery.steps(of: length ?? .max)
            try await body.write(
                DeliveryWriter(base: writer, steps: steps, channel: channel, waiting: waiting, holding: holding)
            )
        }
        return response
    }
}

/// Writes a body step by step.
private struct DeliveryWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    var steps: DeliverySteps
    let channel: any Channel
    let waiting: @Sendable (Duration) async throws -> Void
    let holding: @Sendable () async throws -> Void
    /// Bytes of the current step that are still to be sent.
    var left = 0

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while rest.readableBytes > 0 {
            while left == 0 {
                // Bytes beyond the announced length are not sent.
                guard let step = steps.next() else { return }
                if case .send(let range) = step { left = range.count } else { try await perform(step) }
            }
            guard let piece = rest.readSlice(length: min(left, rest.readableBytes)) else { return }
            left -= piece.readableBytes
            try await base.write(piece)
        }
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
        let last = steps.end()
        for step in last where step != .close { try await perform(step) }
        try await base.finish(trailingHeaders)
        if last.contains(.close) { try await channel.close().get() }
    }

    private func perform(_ step: DeliveryStep) async throws {
        switch step {
        case .send, .close: break
        case .wait(let time): try await waiting(time)
        case .hold: try await holding()
        case .cut: throw ResponseTruncated()
        case .reset: throw await channel.reset()
        }
    }
}
