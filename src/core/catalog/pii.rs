//! Personal data, recognized by column names in six languages.

use crate::catalog::identifier_words::split_identifier;
use crate::catalog::pii_words::{
    ABOUT, ABOUT_WHAT_FOLLOWS, ADDRESS, ALONE, BIRTH, CARD, INNOCENT, KEYS, MAIL, NAMED, NATIONAL_ID, PARTICLES,
    PERSON, PHONE, SECRET,
};

/// Whether a column's name says that it holds personal data: names, contact details, birth dates, national ids,
/// cards and credentials. In doubt the answer is yes, because values of a column that is not marked are stored.
pub(crate) fn names_personal_data(column: &str) -> bool {
    // Fold before splitting, too: a combining accent would end the word.
    let text = fold(&split_identifier(&fold(column)));
    let words = text.split(' ').map(|word| word.trim_matches(|c: char| c.is_ascii_digit()));
    let mut words: Vec<&str> = words.filter(|word| !word.is_empty() && !listed(PARTICLES, word)).collect();
    for pattern in INNOCENT.split_whitespace() {
        while let Some(at) = find(&words, pattern, &[]) {
            words.drain(at..at + pattern.split('_').count());
        }
    }
    let (Some(&first), Some(&last)) = (words.first(), words.last()) else { return false };
    if is_about(&words) {
        return false;
    }
    let matches_any = |tables: &[[&str; 6]], but: &[&str]| {
        let mut patterns = tables.iter().flatten().flat_map(|line| line.split_whitespace());
        patterns.any(|pattern| find(&words, pattern, but).is_some())
    };
    if matches_any(&[MAIL, SECRET, BIRTH, NATIONAL_ID], &[ABOUT]) {
        return true;
    }
    if listed(KEYS, last) || listed("id fk cod codigo code", first) {
        return false;
    }
    matches_any(&[PERSON, ADDRESS, PHONE, CARD], &[ABOUT, KEYS])
        || names_somebody(&words)
        || (words.len() == 1 && listed(ALONE, first))
}

fn is_about(words: &[&str]) -> bool {
    let (first, last) = (words[0], words[words.len() - 1]);
    // `num_emails` is how many, `num_tarjeta` and `number_street_address` are not.
    let how_many = listed("number num no", first) && last.ends_with('s') && !last.ends_with("ss");
    let tail = |word: &&&str| !listed(KEYS, word) && !listed("enum name description desc per", word);
    let describes = words.iter().rev().find(tail).is_some_and(|word| listed(ABOUT, word));
    how_many || describes || (words.len() > 1 && listed(ABOUT_WHAT_FOLLOWS, first))
}

fn names_somebody(words: &[&str]) -> bool {
    NAMED.iter().filter_map(|line| line.split_once(" = ")).any(|(names, people)| {
        let both =
            |(a, b): (&str, &str)| (listed(names, a) && listed(people, b)) || (listed(names, b) && listed(people, a));
        let compound = |word: &&str| word.char_indices().any(|(at, _)| both(word.split_at(at)));
        words.windows(2).any(|pair| both((pair[0], pair[1]))) || words.iter().any(compound)
    })
}

/// The position of a pattern's first word. A stem followed by a word of `but` does not match: `phonetype`.
fn find(words: &[&str], pattern: &str, but: &[&str]) -> Option<usize> {
    let ends_well = |rest: &str| !but.iter().any(|list| listed(list, rest));
    let fits = |(word, part): (&&str, &str)| {
        let stem = part.trim_matches('*');
        match (part.starts_with('*'), part.ends_with('*')) {
            (false, false) => *word == stem,
            (true, false) => word.ends_with(stem),
            (false, true) => word.strip_prefix(stem).is_some_and(ends_well),
            (true, true) => word.rsplit_once(stem).is_some_and(|(_, rest)| ends_well(rest)),
        }
    };
    let size = pattern.split('_').count();
    words.windows(size).position(|window| window.iter().zip(pattern.split('_')).all(fits))
}

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

/// Removes the accents of lower-case letters, because names are often typed without them.
fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => folded.push('a'),
            'è' | 'é' | 'ê' | 'ë' => folded.push('e'),
            'ì' | 'í' | 'î' | 'ï' | 'ı' => folded.push('i'),
            'ò' | 'ó' | 'ô' | 'õ' | 'ö' | 'º' => folded.push('o'),
            'ù' | 'ú' | 'û' | 'ü' => folded.push('u'),
            'ç' => folded.push('c'),
            'ğ' => folded.push('g'),
            'ñ' => folded.push('n'),
            'ş' => folded.push('s'),
            'ß' => folded.push_str("ss"),
            '\u{300}'..='\u{36f}' => {} // An accent by itself
            _ => folded.push(c),
        }
    }
    folded
}

#[cfg(test)]
mod tests {
    use super::names_personal_data;

    const PERSONAL: [&str; 8] = [
        "dtNasc e_mail_addr DT_NASCIMENTO eMail E-Mail EMailAddress Geb_Datum DOB FName LName dateNaiss \
         STU_PHONE prénom PRE\u{301}NOM nº_cartão DOĞUM_TARİHİ şifre address1 phone2 email_1 cvv2 IPAddress \
         homephone phonemobile EmailID",
        "email work_email emailaddress email_id password password_hash passwd user_pwd pin token access_token \
         refreshtoken api_key host_password mail_server_password client_secret birth_date birthday birthplace \
         date_of_birth year_of_birth ssn Mgr_ssn national_id tax_id passport_no passport_id id_card_no \
         social_security_number drivers_license_number iban first_name lastname FullName middle_name \
         maiden_name name_last contactFirstName person contact_person person_name customer_name CustomerName \
         client_name employee_name patient_name student_name teacher_name name_of_customer username user_name \
         address home_address ip_address postal_address street_name phone mobilephone phone_number cell_number \
         mobile_no mobile fax card card_no creditCardNumber card_number",
        "geburtsdatum geburtsort telefonnummer handynummer mobilnummer kennwort passwort vorname nachname \
         familienname kundenname Kunden_Name kunden_name mitarbeitername benutzername anschrift strasse straße \
         hausnummer rechnungsadresse ansprechpartner karte kartennummer kreditkartennummer reisepassnummer \
         personalausweisnummer ausweisnr steuer_id führerschein fuehrerschein_nr sozialversicherungsnummer",
        "dateNaissance date_de_naissance mot_de_passe motdepasse numero_carte courriel adresse adresse_mail \
         téléphone tel_portable nom_client nom_du_client nom_de_famille prenom_client passeport \
         permis_conduire carte_identité numero_securite_sociale nom_utilisateur lieu_naissance",
        "correo correo_electronico contraseña contrasena fecha_nacimiento fecha_nac dirección direccion_envio \
         teléfono movil tarjeta numero_tarjeta num_tarjeta apellido1 apellidos nombre_apellidos nombre_cliente \
         nombre_completo nombre_del_paciente dni nif nie pasaporte seguridad_social",
        "senha endereço endereco_entrega cpf cpf_cliente rg data_nascimento nascimento telefone celular \
         telemóvel sobrenome nome_cliente nome_completo nome_da_mãe cartão numero_cartao correio_eletronico \
         passaporte cnh",
        "dogum_tarihi doğumTarihi tc_kimlik_no tckn tc_no sifre parola e_posta ePosta eposta_adresi \
         cep_telefonu is_telefonu iş_adresi telefon_no adres ev_adresi kredi_karti_no kart_no soyad soyadı \
         ad_soyad musteri_adi müşteri_adı hasta_adi kullanici_adi anne_adi pasaport_no ehliyet_no",
        "telefonszám",
    ];

    const NOT_PERSONAL: [&str; 6] = [
        "name title nom nombre nome ad description code id status city country zip_code postcode _ 7 氏名 \
         product_name file_name filename table_name company_name host_name display_name category_name",
        "address_id addressid AddressTypeID address_type address_type_name address_status card_type \
         card_type_id credit_card_id phone_count phone_type phonetype phone_id phone_country_code person_id \
         person_type person_count id_persona id_adresse tipo_tarjeta adres_turu kart_tipi kisi_sayisi \
         kisi_basi_gelir",
        "email_count email_status email_type_id email_template mail_server has_phone num_emails \
         number_of_addresses token_count password_length last_login login_count customer_id customer user_id \
         customer_group_name user_role author mailing_list_id",
        "birth_rate birthrate births total_births births_2020 birth_count birthstone geburtenrate geburtenzahl \
         renaissance connaissance yellow_card score_card mobile_app price_per_person persons_per_household",
        "tokenizer tokenized discard cardinality scorecard wildcard dashboard blackmail voicemail personality \
         personnel_count addressable ordinary postcard cardiology cardio pinned spin pinyin telemetry hotel \
         television mandate adresseur phonetic phoneme saxophone microphone headphone secretary nascar desenho \
         passenger compass passing taxidermy nationality international_no",
        "landkarte speisekarte kartei kartentyp adresstyp anzahl_adressen cantidad_tarjetas nombre_producto \
         nom_produit produktname nome_produto urun_adi nombre_de_clients padres saldo tutar betrag cep plz",
    ];

    #[test]
    fn knows_personal_data_by_its_name() {
        for (names, personal) in [(&PERSONAL[..], true), (&NOT_PERSONAL[..], false)] {
            let names: Vec<&str> = names.iter().flat_map(|line| line.split_whitespace()).collect();
            assert!(names.len() > 120);
            let wrong = |name: &&&str| names_personal_data(name) != personal;
            assert_eq!(names.iter().filter(wrong).collect::<Vec<_>>(), [&""; 0], "personal: {personal}");
        }
        assert!(names_personal_data("Date of Birth") && names_personal_data("Customer Name"));
        assert!(!names_personal_data("") && !names_personal_data("Birth Rate (per 1000)"));
    }
}
