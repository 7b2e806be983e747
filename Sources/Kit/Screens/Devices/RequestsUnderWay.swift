import Foundation
import NIOCore
import Synchronization

/// The requests under way of each device, by what their responses are sent on: the channel of a connection, or of a
/// stream of HTTP/2.
final class RequestsUnderWay: Sendable {
    /// A request, from its head to the end of its response. It ends with this object at the latest.
    final class Entry: Sendable {
        private let number: Int
        private let device: Data
        private let requests: RequestsUnderWay

        fileprivate init(_ number: Int, _ device: Data, _ requests: RequestsUnderWay) {
            (self.number, self.device, self.requests) = (number, device, requests)
        }

        deinit { end() }

        /// The response has ended.
        func end() { requests.remove(number, of: device) }
    }

    private struct State {
        var channels: [Data: [Int: any Channel]] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Number of requests.
    var count: Int { state.withLock { $0.channels.values.reduce(0) { $0 + $1.count } } }

    /// Adds a request.
    func add(_ channel: any Channel, of device: Data) -> Entry {
        let number = state.withLock { state in
            state.last += 1
            state.channels[device, default: [:]][state.last] = channel
            return state.last
        }
        return Entry(number, device, self)
    }

    /// Cuts off the responses to a device, except on one channel: a client sees that they are not whole.
    func close(_ device: Data, sparing spared: (any Channel)?) {
        let channels = state.withLock { $0.channels.removeValue(forKey: device) ?? [:] }
        for channel in channels.values where channel !== spared { channel.close(mode: .all, promise: nil) }
    }

    private func remove(_ number: Int, of device: Data) {
        state.withLock { state in
            state.channels[device]?[number] = nil
            if state.channels[device]?.isEmpty == true { state.channels[device] = nil }
        }
    }
}
