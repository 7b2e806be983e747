import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// Returns the response with a body that is sent as a fault has it.
    ///
    /// - Parameter sequence: The number of the request in the journal.
    func delivered(_ delivery: Delivery, _ faults: FrontFaults, _ sequence: Int, on channel: any Channel) -> Response {
        var response = self
        if delivery.closeDelay != nil { response.headers[.connection] = "close" }
        let (body, length) = (body, body.contentLength)
        response.body = ResponseBody(contentLength: length) { writer in
            try await body.write(
                FrontBodyWriter(
                    base: writer,
                    // The length of a stream is unknown; it has no middle.
                    steps: delivery.steps(of: length ?? .max),
                    faults: faults,
                    sequence: sequence,
                    channel: channel
                )
            )
        }
        return response
    }
}

/// Writes a body step by step.
private struct FrontBodyWriter: ResponseBodyWriter {
    var base: any ResponseBodyWriter
    var steps: DeliverySteps
    let faults: FrontFaults
    let sequence: Int
    let channel: any Channel
    /// Bytes of the current step that are still to be sent.
    private var left = 0

    init(
        base: any ResponseBodyWriter,
        steps: DeliverySteps,
        faults: FrontFaults,
        sequence: Int,
        channel: any Channel
    ) {
        (self.base, self.steps, self.faults) = (base, steps, faults)
        (self.sequence, self.channel) = (sequence, channel)
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        var rest = buffer
        while rest.readableBytes > 0 {
            while left == 0 {
                // A body that is longer than was announced is not sent.
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
        case .wait(let time): try await FrontRequest.pass(time, on: channel)
        case .hold: try await FrontRequest.wait(for: faults.gate.hold(sequence: sequence), faults.gate, on: channel)
        case .cut: throw ResponseTruncated()
        case .reset: throw await channel.reset()
        }
    }
}
