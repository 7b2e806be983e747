public import Foundation

/// A snapshot as the controls show it.
public struct SnapshotDescription: Sendable {
    /// Its name.
    public let name: String
    let at: Date

    /// - Parameter at: when it was taken, by the clock of the server.
    public init(name: String, at: Date) {
        (self.name, self.at) = (name, at)
    }

    var json: JSONValue { ["name": .string(name), "at": .string(at.formatted(ControlFields.timeForm))] }
}
