import Foundation
import JSONValues

/// The initial files. Paths, sizes and times are always the same; only pictures and links depend on the seed.
enum DiskSeed {
    /// The folder in which public files are saved.
    static let downloads = "disk:/Загрузки"

    /// The system folders with the service's names. Those of social networks exist only after they were used.
    static let systemFolders: KeyValuePairs<String, String> = [
        "odnoklassniki": "disk:/Социальные сети/Одноклассники", "google": "disk:/Социальные сети/Google+",
        "instagram": "disk:/Социальные сети/Instagram",
        "vkontakte": "disk:/Социальные сети/ВКонтакте", "attach": "disk:/Почтовые вложения",
        "mailru": "disk:/Социальные сети/Мой Мир",
        "downloads": "disk:/Загрузки/", "applications": "disk:/Приложения",
        "facebook": "disk:/Социальные сети/Facebook", "social": "disk:/Социальные сети/",
        "messenger": "disk:/Файлы Мессенджера", "calendar": "disk:/Материалы встреч", "scans": "disk:/Сканы",
        "screenshots": "disk:/Скриншоты/",
        "photostream": "disk:/Фотокамера/",
    ]

    /// 10 January 2024, 08:00:00 UTC, the time of the first file. The others follow about two days apart.
    static let start = Date(timeIntervalSince1970: 1_704_873_600)

    static func model(seed: UInt64) -> DiskModel {
        let links = DiskLinks(seed: seed)
        var anna = DiskSeeding(account: anna, number: 1, totalSpace: 10_737_418_240, seed: seed, links: links)
        anna.plantEverything()
        var boris = DiskSeeding(account: boris, number: 2, totalSpace: 5_368_709_120, seed: seed &+ 1, links: links)
        boris.plantLittle()
        return DiskModel(trees: [anna.tree, boris.tree], links: links)
    }

    private static let anna = DiskAccount(
        login: "anna",
        displayName: "Анна Песочница",
        uid: "100000001",
        country: "ru",
        isPaid: true,
        registered: Date(timeIntervalSince1970: 1_483_261_200)
    )
    private static let boris = DiskAccount(
        login: "boris",
        displayName: "Boris",
        uid: "100000002",
        country: "kz",
        isPaid: false,
        registered: Date(timeIntervalSince1970: 1_583_261_200)
    )
}

/// Adds the files of one account, each about two days after the one before.
struct DiskSeeding {
    private(set) var tree: DiskTree
    private var now = DiskSeed.start
    private let seed: UInt64
    private let links: DiskLinks

    init(account: DiskAccount, number: Int, totalSpace: Int, seed: UInt64, links: DiskLinks) {
        tree = DiskTree(account: account, number: number, totalSpace: totalSpace, at: account.registered)
        self.seed = seed
        self.links = links
    }

    private mutating func advance() { now += 160_007 }

    @discardableResult
    mutating func folder(_ path: String) -> Int {
        var parent = tree.root
        for name in path.split(separator: "/").map(String.init) {
            if let there = tree.nodes[parent]?.children?[NameKey(name)] {
                parent = there
            } else {
                advance()
                parent = tree.add(name, to: parent, at: now)
            }
        }
        return parent
    }

    @discardableResult
    mutating func file(_ folder: String, _ name: String, _ file: MadeFile, exif: JSONObject = .init()) -> Int {
        plant(folder, name, DiskContent(file), exif: exif)
    }

    @discardableResult
    mutating func plant(_ folder: String, _ name: String, _ content: DiskContent, exif: JSONObject = .init()) -> Int {
        let parent = self.folder(folder)
        advance()
        return tree.add(name, to: parent, content: content, exif: exif, at: now)
    }

    mutating func publish(_ id: Int) {
        let links = self.links
        advance()
        let revision = tree.revision + 1
        tree.update(id, at: now) { $0.publication = links.publication(of: $0, revision: revision) }
    }

    mutating func discard(_ id: Int) {
        advance()
        tree.discard(id, at: now)
    }

    mutating func setProperties(_ properties: JSONObject, of id: Int) {
        advance()
        tree.update(id, at: now) { $0.properties = .some(properties) }
    }

    /// The `number`-th view.
    func landscape(_ number: Int) -> Landscape { Landscape(seed: SplitMix64.value(seed: seed, index: UInt64(number))) }

    /// The record of a camera; every other photo has the place where it was taken.
    func exif(_ number: Int) -> JSONObject {
        var exif = JSONObject()
        exif["date_time"] = .string(DiskTime.text(now.addingTimeInterval(9_007)))
        if number.isMultiple(of: 2) {
            exif["gps_longitude"] = .number("37.\(6_000 + number)")
            exif["gps_latitude"] = .number("55.\(7_000 + number)")
        }
        return exif
    }

    /// The first account: some hundred files.
    mutating func plantEverything() {
        plantDiary()
        plantPhotos()
        plantDocuments()
        plantNames()
        plantProjects()
        plantShared()
        plantRest()
    }

    /// The second account, for tests that need two. One path exists in both.
    mutating func plantLittle() {
        file("", "Привет.txt", .text("Это диск Бориса.\n"))
        file("Документы", "Договор.docx", .docx(title: "Договор Бориса", paragraphs: 2))
        file("Фотокамера", "Озеро.jpg", .photo(landscape(1), width: 320, height: 240))
        publish(file("", "Список.txt", .text("молоко\nхлеб\n")))
    }

    /// Two years, seven short texts a month.
    private mutating func plantDiary() {
        for month in 0..<24 {
            let folder = "Дневник/\(2024 + month / 12)/\(Self.twoDigits(month % 12 + 1))"
            for day in 1...7 {
                file(
                    folder,
                    "Запись \(day).txt",
                    .text(
                        "Запись \(day) за месяц \(month % 12 + 1) года \(2024 + month / 12).\n"
                            + "Погода ясная, ветер слабый.\n"
                    )
                )
            }
        }
    }

    private mutating func plantPhotos() {
        for number in 1...60 {
            let isLarge = number.isMultiple(of: 20)
            let isUpright = number.isMultiple(of: 7)
            let (long, short) = isLarge ? (1_280, 960) : (320, 240)
            let photo = MadeFile.photo(
                landscape(number),
                width: isUpright ? short : long,
                height: isUpright ? long : short
            )
            file("Фотокамера", "IMG_\(Self.twoDigits(number)).JPG", photo, exif: exif(number))
        }
        for number in 1...20 {
            file("Скриншоты", "Снимок экрана \(number).png", .drawing(landscape(200 + number), width: 160, height: 96))
        }
    }

    private mutating func plantDocuments() {
        let titles = ["Договор", "Резюме", "Заявление", "Инструкция", "Приказ", "Протокол", "Письмо", "План"]
        for (index, title) in titles.enumerated() {
            file("Документы", "\(title).docx", .docx(title: title, paragraphs: 3 + index))
        }
        for (index, title) in ["Смета", "Бюджет", "Расписание", "Контакты", "Инвентарь", "Показания"].enumerated() {
            let id = file("Документы", "\(title).xlsx", .xlsx(title: title, rows: 5 + index))
            if title == "Смета" { publish(id) }
        }
        for number in 1...10 {
            file("Документы/Счета", "Счёт №\(number).pdf", .pdf(title: "Invoice \(number)", pages: 1 + number % 3))
        }
        for number in 1...6 {
            file("Документы/Таблицы", "Выгрузка \(number).csv", .table(title: "товар \(number)", rows: 10 * number))
        }
        setProperties(
            ["цвет": "синий", "важность": 3],
            of: file("Документы", "Помеченный.txt", .text("Со свойствами.\n"))
        )
    }

    /// Names that are difficult to handle in paths.
    private mutating func plantNames() {
        let names = [
            "с пробелами  в имени.txt", "плюс+плюс.txt", "решётка#1.txt", "100%.txt", "%D0%9F.txt", "a&b=c.txt",
            "вопрос?.txt", "время 12:30.txt", "disk:.txt",
            "эмодзи 🏔️🚢.txt", "кавычки \"«'.txt", "точка;запятая,.txt", "<b>жирный<b>.txt", "обратная\\косая.txt",
            ".скрытый", "без расширения", "日本語.txt",
            "é.txt", "e\u{301}.txt", String(repeating: "длинное имя ", count: 21).prefix(250) + ".txt",
        ]
        for name in names { file("Имена", name, .text("Файл называется «\(name)».\n")) }
        file("Имена/папка с + и #/ещё & одна?", "файл 100%.txt", .text("Глубже.\n"))
    }

    /// Equal names in two folders, and deeply nested folders.
    private mutating func plantProjects() {
        for name in ["Проект А", "Проект Б"] {
            let latin = name == "Проект А" ? "Project A" : "Project B"
            file("Проекты/\(name)", "Отчёт.pdf", .pdf(title: "Report of \(latin)", pages: name == "Проект А" ? 2 : 3))
            file("Проекты/\(name)", "План.docx", .docx(title: "План: \(name)", paragraphs: 4))
            file(
                "Проекты/\(name)",
                "Схема.png",
                .drawing(landscape(name == "Проект А" ? 301 : 302), width: 160, height: 96)
            )
        }
        let depth = (1...12).map { "уровень \($0)" }.joined(separator: "/")
        file("Глубоко/\(depth)", "дно.txt", .text("Ниже ничего нет.\n"))
        folder("Пустая папка")
    }

    private mutating func plantShared() {
        for number in 1...6 {
            file("Общее", "Вид \(number).jpg", .photo(landscape(400 + number), width: 320, height: 240))
        }
        file("Общее/Вложенная", "Прочти.txt", .text("Это видно всем, у кого есть ссылка.\n"))
        publish(folder("Общее"))
        for number in [3, 8] {
            if let id = tree.node(
                at: DiskPath(area: .disk, names: ["Фотокамера", "IMG_\(Self.twoDigits(number)).JPG"])
            )?.id {
                publish(id)
            }
        }
    }

    private mutating func plantRest() {
        for (index, name) in ["Рассвет", "Прибой", "Метель", "Капель"].enumerated() {
            file("Музыка", "\(name).wav", .tone(period: 20 + 8 * index))
        }
        for number in 1...3 { file("Архив", "Архив \(number).zip", .archive(title: "Архив \(number)")) }
        plant("Архив", "Образ диска 2 ГБ.img", .endless)
        file("Загрузки", "Билет.pdf", .pdf(title: "Ticket", pages: 1))
        file("Загрузки", "Пустой файл.txt", .text(""))
        discard(file("Старое", "черновик.txt", .text("Черновик.\n")))
        file("Ненужное", "раз.txt", .text("раз\n"))
        file("Ненужное", "два.txt", .text("два\n"))
        discard(folder("Ненужное"))
        file("", "Прочти меня.txt", .text("Это диск Анны. Все файлы сделаны песочницей.\n"))
        file("", "Горы.jpg", .photo(landscape(500), width: 640, height: 480))
        file("", "Отчёт за год.pdf", .pdf(title: "Annual report", pages: 5))
    }

    private static func twoDigits(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
}
