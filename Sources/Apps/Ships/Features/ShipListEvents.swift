import Screens

/// Publishes that the list of ships has changed.
struct ShipListEvents: Sendable {
    let stream: EventStream

    /// Publishes a new revision of the list to every account.
    func publishChange(revision: Int) {
        stream.publish(
            .screenChanged(
                app: ShipsApp.name,
                screen: "ships.list",
                revision: revision,
                audience: .app(ShipsApp.name)
            )
        )
    }

    /// Publishes a new revision of the list to one account.
    func publishChange(revision: Int, to account: String) {
        stream.publish(
            .screenChanged(
                app: ShipsApp.name,
                screen: "ships.list",
                revision: revision,
                audience: .account(app: ShipsApp.name, account: account)
            )
        )
    }
}
