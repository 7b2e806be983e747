import Foundation

extension SpaceOrder {
    /// Longest time without a request, in seconds.
    private static let longestIdle = 3600

    /// Reads `{"name":"t17","seed":7,"now":"2030-01-05T10:00:00Z","frozen":true,"idle_s":600,"until":"connection",
    /// "from":"SNAPSHOT"}`, of which all may be left out, and the body; with `"idle_s":0` it does not end by itself.
    init(_ request: ControlRequest) throws(ControlProblem) {
        self.init()
        guard !request.body.isEmpty else { return }
        let fields = try ControlFields(try request.json())
        try fields.require(only: "name", "seed", "now", "frozen", "idle_s", "until", "from")
        name = try fields.text("name").map(ControlName.checked)
        seed = try fields.integer("seed", in: 0...Int.max).map(UInt64.init)
        now = try fields.time("now")
        isFrozen = try fields.flag("frozen") ?? false
        if let seconds = try fields.integer("idle_s", in: 0...Self.longestIdle) {
            idle = seconds == 0 ? nil : .seconds(seconds)
        }
        if try fields.choice("until", of: End.self) == .connection { onDisconnect = request.onClose }
        snapshot = try fields.text("from")
    }

    private enum End: String, CaseIterable {
        case idle, connection
    }
}
