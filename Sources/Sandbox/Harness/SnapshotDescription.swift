package import Foundation

/// A snapshot as the controls show it.
package struct SnapshotDescription: Sendable {
    /// Its name.
    package let name: String
    let at: Date

    /// - Parameter at: when it was taken, by the clock of the server.
    package init(name: String, at: Date) {
        (self.name, self.at) = (name, at)
    }

    var json: JSONValue { ["name": .string(name), "at": .string(at.formatted(ControlFields.timeForm))] }
}
