import {Model} from './model';
import type {Report} from './record';

const record = JSON.parse(document.getElementById('record')!.textContent!) as Report;
const model = new Model(record);
document.getElementById('page')!.append(model.report.conclusion);
