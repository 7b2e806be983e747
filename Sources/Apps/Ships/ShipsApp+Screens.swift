package import Screens

extension ShipsApp {
    private typealias Label = ScreenForm.Label

    package static let screens = [
        ScreenForm("ships.launch", .ships),
        ScreenForm(
            "ships.session",
            .ships,
            [.name("name"), Label("alert"), Label("message"), Label("button")]
        ),
        ScreenForm("ships.list", .ships, tab: "/v1/ships", search: "/v1/ships", [.name("name")] + summary),
        ScreenForm(
            "ships.details",
            Text("Ship", ru: "Корабль"),
            summary + [
                Label("weight_kg_text", Text("Weight", ru: "Масса")),
                Label("home_port_text", Text("Home port", ru: "Порт приписки")),
                Label("roles_text", Text("Roles", ru: "Назначение")),
            ]
        ),
    ]

    private static let summary: [Label] = [
        .picture("image_url"), Label("type_text", Text("Type", ru: "Тип")),
        Label("year_built_text", Text("Built", ru: "Год постройки")),
    ]

    /// The login, and the way past it.
    static let logins = [
        Action(
            id: "login",
            title: Text("Login", ru: "Войти"),
            method: "POST",
            href: "/v1/ships/session",
            body: ["mode": .text("login")],
            fields: [
                Action.Field("username", .text, Text("E-mail", ru: "Эл. почта")),
                Action.Field("password", .password, .password),
            ]
        ),
        Action(
            id: "guest",
            title: Text("Continue as Guest", ru: "Продолжить как гость"),
            method: "POST",
            href: "/v1/ships/session",
            body: ["mode": .text("guest")]
        ),
    ]
}

extension ShipDetailsScreen: TitledScreen {
    var screenTitle: Text? { Text(verbatim: name) }
}

extension Text {
    fileprivate static let ships = Text("Ships", ru: "Корабли")
}
