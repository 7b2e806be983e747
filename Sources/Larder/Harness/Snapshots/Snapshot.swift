import Foundation
import Sandbox

/// A server under test as it was: its data, its simulated upstreams, and its clock.
struct Snapshot: Sendable {
    let name: String
    /// When it was taken, by the clock of the server.
    let at: Date
    let store: SavedStore
    let upstreams: SavedUpstreams
    let clock: VirtualClock.Reading

    var description: SnapshotDescription { SnapshotDescription(name: name, at: at) }
}
