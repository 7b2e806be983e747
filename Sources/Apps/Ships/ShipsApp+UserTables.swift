package import AppInterface

extension ShipsApp {
    /// The tables that a copy from one store to the other has.
    package static let userTables: [UserTable] = [
        UserTable(
            "ship",
            key: ["id"],
            [
                "id": .text, "name": .text, "sort_key": .text, "type": .text, "roles": .text, "active": .boolean,
                "year_built": .integer, "home_port": .text, "mass_kg": .real, "image_url": .text,
                "listed": .boolean, "from_snapshot": .boolean, "added_revision": .integer,
                "changed_revision": .integer, "removed_revision": .integer,
            ]
        ),
        UserTable(
            "ship_of_account",
            key: ["account", "ship_id", "revision"],
            ["account": .text, "ship_id": .text, "revision": .integer, "hidden": .boolean]
        ),
        // After the ships: triggers count them.
        UserTable(
            "ship_revision",
            key: ["one"],
            ["one": .integer, "last": .integer, "content": .integer, "present": .integer],
            rows: .initial
        ),
    ]
}
