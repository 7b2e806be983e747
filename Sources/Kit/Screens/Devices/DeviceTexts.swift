// What users read about devices and their pairing.
extension Text {
    static let pairDevice = Text("Pair a device", ru: "Подключить устройство")
    static let unpair = Text("Unpair", ru: "Отключить")
    static let confirmUnpairing = Text(
        "Unpair this device? What it is loading is cut off, and it needs a new code to come back.",
        ru: "Отключить это устройство? Его загрузки прервутся, для возвращения понадобится новый код."
    )
    static let pairingRequired = Text(
        "This device is not paired with the server. Open /pair and enter the code that the server shows.",
        ru: "Это устройство не подключено к серверу. Откройте /pair и введите код, который показывает сервер."
    )
    static let wrongCode = Text(
        "This is not the code that the server shows now. A code has eight characters and is good once.",
        ru: "Сервер сейчас показывает другой код. В коде восемь знаков, и он действует один раз."
    )
    static let lateCode = Text(
        "This code was right, but its ten minutes are over. Have the server make a new one.",
        ru: "Код верный, но его десять минут истекли. Создайте на сервере новый."
    )
    static let tooManyCodes = Text(
        "There were too many wrong codes from this address. Wait some minutes.",
        ru: "С этого адреса введено слишком много неверных кодов. Подождите несколько минут."
    )
    static let pairingIsOff = Text(
        "This server pairs no devices: its setting http.access is not pairing.",
        ru: "Этот сервер не подключает устройства: настройка http.access — не pairing."
    )
    static let tooManyDevices = Text(
        "There are \(DeviceStore.maximum) devices already. Unpair one first.",
        ru: "Уже подключено \(DeviceStore.maximum) устройств. Сначала отключите одно из них."
    )
    static let localOnly = Text(
        "This is possible on the server's own machine only, at http://larder.localhost or with larder pair and devices.",
        ru: "Это можно сделать только на самом сервере: на http://larder.localhost или командами larder pair и devices."
    )
    static let otherProfile = Text(
        "This device was paired for another profile.",
        ru: "Это устройство подключено для другого профиля."
    )
    static let noDevice = Text("There is no such device.", ru: "Такого устройства нет.")
    static let deviceNameForm = Text(
        "The name of a device has 1 to \(Device.longestName) characters.",
        ru: "В имени устройства от 1 до \(Device.longestName) знаков."
    )
}
